//! Which addresses are of the public internet.
//!
//! A name is anybody's to point somewhere: what a granted name resolves to is connected to only if it is
//! public. Everything else (this machine, its network, a cloud's metadata service) is granted by address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First address and prefix length of the IPv4 ranges that are not public (IANA's special-purpose registry).
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    // This network.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared, behind a carrier's NAT.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local; clouds answer for their metadata here.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Private.
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays of 6to4, withdrawn.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Private.
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, and broadcast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Whether the address is public, or holds one that is where it carries an IPv4 address.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(first, prefix)| {
        let differ = u32::from(*first) ^ u32::from(address);
        differ >> (32 - prefix) == 0
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let part = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match part {
        // NAT64: what a resolver makes of an IPv4 address where there is only IPv6.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(v4(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Protocol assignments, Teredo among them, which carries IPv4 addresses of any kind.
        [0x2001, 0..=0x01ff, ..] => false,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Global unicast. Outside of it lie loopback, link-local, unique-local, multicast, discard,
        // IPv4-compatible and every range nobody has assigned.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn public_and_not() {
        for (address, expected) in [
            ("1.1.1.1", true),
            ("9.255.255.255", true),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("223.255.255.255", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("127.255.255.255", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("192.168.1.1", false),
            ("198.19.0.1", false),
            ("198.51.100.7", false),
            ("203.0.113.7", false),
            ("224.0.0.1", false),
            ("239.255.255.255", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700:4700::1111", true),
            ("2a00:1450::1", true),
            ("::", false),
            ("::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("fc00::1", false),
            ("fd12:3456::1", false),
            ("ff02::1", false),
            ("100::1", false),
            ("2001:db8::1", false),
            ("3fff:fff::1", false),
            // Teredo.
            ("2001:0:1::1", false),
            // Mapped, compatible, NAT64 and 6to4.
            ("::ffff:1.1.1.1", true),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::1.1.1.1", false),
            ("::127.0.0.1", false),
            ("64:ff9b::101:101", true),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a00:1", false),
            ("64:ff9b:1::101:101", false),
            ("2002:101:101::1", true),
            ("2002:7f00:1::1", false),
            ("2002:a9fe:a9fe::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }
}
