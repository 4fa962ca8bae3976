//! Which hosts a plugin may connect to.

use std::net::{IpAddr, SocketAddr};

use hookgate_core::config::NetworkGrant;

use super::address::is_public;

/// The network grants of one plugin.
///
/// INVARIANT: nothing connects to an address that this has not admitted for the port, whether the guest
/// opens a socket or sends a request.
#[derive(Debug, Default)]
pub(crate) struct NetworkPolicy {
    grants: Vec<NetworkGrant>,
}

impl NetworkPolicy {
    pub(super) fn new(grants: Vec<NetworkGrant>) -> Self {
        Self { grants }
    }

    /// Whether nothing is granted.
    pub(crate) fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// The ports a name is granted with; none if it is not granted.
    pub(crate) fn ports_of(&self, name: &str) -> Vec<u16> {
        let granted = self.grants.iter();
        granted
            .filter(|grant| grant.host.matches_name(name))
            .map(|grant| grant.port)
            .collect()
    }

    /// Whether an address is granted as such, with this port.
    pub(crate) fn grants_address(&self, address: IpAddr, port: u16) -> bool {
        let address = address.to_canonical();
        self.grants
            .iter()
            .any(|grant| grant.port == port && grant.host.matches_address(address))
    }

    /// Whether an address is granted as such, with any port.
    pub(crate) fn knows_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.grants
            .iter()
            .any(|grant| grant.host.matches_address(address))
    }

    /// Whether an address a granted name led to may be connected to.
    pub(crate) fn admits(&self, to: SocketAddr) -> bool {
        is_public(to.ip()) || self.grants_address(to.ip(), to.port())
    }
}

#[cfg(test)]
mod tests {
    use hookgate_core::config::{HostPattern, NetworkGrant};

    use super::NetworkPolicy;

    fn policy(grants: &[(&str, u16)]) -> NetworkPolicy {
        let grants = grants.iter().map(|(host, port)| NetworkGrant {
            host: HostPattern::parse(host).unwrap(),
            port: *port,
        });
        NetworkPolicy::new(grants.collect())
    }

    #[test]
    fn names_with_their_ports() {
        let policy = policy(&[
            ("api.example.com", 443),
            ("*.example.com", 8443),
            ("10.0.0.0/8", 5432),
        ]);
        assert_eq!(policy.ports_of("api.example.com"), [443, 8443]);
        assert_eq!(policy.ports_of("a.b.example.com"), [8443]);
        assert!(policy.ports_of("example.com").is_empty());
        assert!(policy.ports_of("example.org").is_empty());
    }

    #[test]
    fn private_addresses_only_if_granted_as_such() {
        let policy = policy(&[("api.example.com", 443), ("10.0.0.0/8", 443)]);
        for (to, admitted) in [
            ("1.1.1.1:443", true),
            ("10.1.2.3:443", true),
            ("10.1.2.3:80", false),
            ("127.0.0.1:443", false),
            ("[::1]:443", false),
            ("[::ffff:10.1.2.3]:443", true),
            ("[::ffff:127.0.0.1]:443", false),
        ] {
            assert_eq!(policy.admits(to.parse().unwrap()), admitted, "{to}");
        }
        // A public address is not granted by being public.
        assert!(!policy.grants_address("1.1.1.1".parse().unwrap(), 443));
    }
}
