//! [`HostPattern`]: which hosts a network grant names.

use std::fmt;
use std::net::IpAddr;

/// Longest name of a host, in characters, and longest label of one (RFC 1035).
const NAME_MAX_CHARS: usize = 253;
const LABEL_MAX_CHARS: usize = 63;

/// Which hosts a grant names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// One name, in lower case.
    Name(String),
    /// Every name below this one, at any depth, and not this one itself: `*.example.com`.
    Below(String),
    /// One address.
    Address(IpAddr),
    /// A range of addresses.
    Range(AddressRange),
}

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    first: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// The bits all of its addresses have in common, counted from the left.
    #[must_use]
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Whether the address is one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (first, width) = bits(self.first);
        let (address, other) = bits(address);
        width == other && (first ^ address) & mask(self.prefix, width) == 0
    }
}

/// An address as a number, and how many bits it has.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    }
}

fn mask(prefix: u8, width: u8) -> u128 {
    let all = u128::MAX >> (128 - u32::from(width));
    let free = u32::from(width - prefix);
    all & u128::MAX.checked_shl(free).unwrap_or(0)
}

/// Why a text is no [`HostPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostError {
    problem: &'static str,
    hint: String,
}

impl HostError {
    fn new(problem: &'static str, hint: impl Into<String>) -> Self {
        Self {
            problem,
            hint: hint.into(),
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &'static str {
        self.problem
    }

    /// What to write.
    #[must_use]
    pub fn hint(&self) -> String {
        self.hint.clone()
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; hint: {}", self.problem, self.hint)
    }
}

impl std::error::Error for HostError {}

impl HostPattern {
    /// Reads a name, `*.` and a name, an address, or a range.
    ///
    /// # Errors
    /// Anything else, with what to write.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if let Some((address, prefix)) = text.split_once('/')
            && let Ok(address) = address.parse()
        {
            return range(address, prefix).map(Self::Range);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return match address.to_canonical() {
                same if same == address => Ok(Self::Address(address)),
                other => Err(HostError::new(
                    "an IPv4 address in IPv6 form",
                    format!("write {other}"),
                )),
            };
        }
        if let Some(below) = text.strip_prefix("*.") {
            let name = host_name(below).ok_or_else(not_a_host)?;
            if !name.contains('.') {
                return Err(HostError::new(
                    "a whole top-level domain",
                    "write at least two labels behind the star, for example *.example.com",
                ));
            }
            return Ok(Self::Below(name));
        }
        if !text.is_ascii() {
            return Err(HostError::new(
                "not ASCII",
                "write an international name in its ASCII form, which begins with xn--",
            ));
        }
        host_name(text).map(Self::Name).ok_or_else(not_a_host)
    }

    /// Whether a name, as [`host_name`] gives it, is one of them.
    #[must_use]
    pub fn matches_name(&self, name: &str) -> bool {
        match self {
            Self::Name(granted) => granted == name,
            Self::Below(granted) => name
                .strip_suffix(granted.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|rest| !rest.is_empty()),
            Self::Address(_) | Self::Range(_) => false,
        }
    }

    /// Whether an address is granted as such: by itself or by its range.
    #[must_use]
    pub fn matches_address(&self, address: IpAddr) -> bool {
        match self {
            Self::Address(granted) => *granted == address,
            Self::Range(range) => range.contains(address),
            Self::Name(_) | Self::Below(_) => false,
        }
    }
}

fn not_a_host() -> HostError {
    HostError::new(
        "not a host",
        "write a name, *.name, an address or a range alone, without scheme, port or path: api.example.com, *.example.com, 192.0.2.7, 10.0.0.0/8",
    )
}

fn range(address: IpAddr, prefix: &str) -> Result<AddressRange, HostError> {
    let (number, width) = bits(address);
    let prefix = prefix
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| prefix.parse::<u8>().ok())
        .flatten()
        .filter(|prefix| *prefix <= width);
    let Some(prefix) = prefix else {
        let hint = format!("write a number of bits from 0 to {width} behind the slash");
        return Err(HostError::new("not a range", hint));
    };
    let first = number & mask(prefix, width);
    let first = match address {
        // Its upper bits are zero.
        IpAddr::V4(_) => IpAddr::V4(u32::try_from(first).unwrap_or(u32::MAX).into()),
        IpAddr::V6(_) => IpAddr::V6(first.into()),
    };
    if first != address {
        let hint = format!("write {first}/{prefix}");
        return Err(HostError::new("not the first address of its range", hint));
    }
    Ok(AddressRange { first, prefix })
}

/// A host's name as grants and requests are compared by: lower case, no dot at its end. None for what is
/// no name: other characters, empty labels, and numbers, which systems read as addresses (`127.1`, `0x7f.1`).
#[must_use]
pub fn host_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=LABEL_MAX_CHARS).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last
            .strip_prefix("0x")
            .or(last.strip_prefix("0X"))
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let good = name.len() <= NAME_MAX_CHARS && name.split('.').all(is_label) && !is_number;
    good.then(|| name.to_ascii_lowercase())
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Below(name) => write!(f, "*.{name}"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Range(range) => write!(f, "{range}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPattern, host_name};

    #[test]
    fn what_is_a_host() {
        for (text, expected) in [
            ("API.Example.com", "api.example.com"),
            ("localhost", "localhost"),
            ("a_b.example.com.", "a_b.example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("*.Example.com", "*.example.com"),
            ("192.0.2.7", "192.0.2.7"),
            ("2001:DB8::1", "2001:db8::1"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("192.0.2.7/32", "192.0.2.7/32"),
            ("fd00::/8", "fd00::/8"),
            ("::/0", "::/0"),
        ] {
            let host = HostPattern::parse(text).map(|host| host.to_string());
            assert_eq!(host.as_deref(), Ok(expected), "{text}");
            assert_eq!(
                HostPattern::parse(expected),
                HostPattern::parse(text),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_none() {
        for (text, problem, hint) in [
            ("", "not a host", "write a name"),
            ("*", "not a host", "write a name"),
            ("*.", "not a host", "write a name"),
            ("*.com", "a whole top-level domain", "*.example.com"),
            ("a.*.example.com", "not a host", "write a name"),
            ("https://example.com", "not a host", "without scheme"),
            ("example.com:443", "not a host", "without scheme"),
            ("example.com/x", "not a host", "without scheme"),
            ("user@example.com", "not a host", "write a name"),
            ("a..b", "not a host", "write a name"),
            (".example.com", "not a host", "write a name"),
            ("-a.example.com", "not a host", "write a name"),
            ("a b", "not a host", "write a name"),
            ("bücher.example", "not ASCII", "xn--"),
            ("[::1]", "not a host", "write a name"),
            ("fe80::1%eth0", "not a host", "write a name"),
            // Systems read these as 127.0.0.1.
            ("127.1", "not a host", "write a name"),
            ("2130706433", "not a host", "write a name"),
            ("0x7f.1", "not a host", "write a name"),
            ("0x7f000001", "not a host", "write a name"),
            ("017700000001", "not a host", "write a name"),
            (
                "::ffff:10.0.0.1",
                "an IPv4 address in IPv6 form",
                "write 10.0.0.1",
            ),
            ("10.0.0.0/33", "not a range", "from 0 to 32"),
            ("10.0.0.0/", "not a range", "from 0 to 32"),
            ("10.0.0.0/+8", "not a range", "from 0 to 32"),
            ("::/129", "not a range", "from 0 to 128"),
            (
                "10.1.2.3/8",
                "not the first address of its range",
                "write 10.0.0.0/8",
            ),
            (
                "fd00::1/8",
                "not the first address of its range",
                "write fd00::/8",
            ),
        ] {
            let error = HostPattern::parse(text).expect_err(text);
            assert_eq!(error.problem(), problem, "{text}");
            assert!(error.hint().contains(hint), "{text}: {}", error.hint());
        }
        assert!(HostPattern::parse(&format!("{}.example", "a".repeat(64))).is_err());
        assert!(
            HostPattern::parse(&"a.".repeat(127)).is_ok(),
            "253 characters and a dot"
        );
        assert!(HostPattern::parse(&format!("b{}", "a.".repeat(127))).is_err());
    }

    #[test]
    fn which_names_match() {
        for (pattern, name, expected) in [
            ("api.example.com", "api.example.com", true),
            ("api.example.com", "API.example.COM.", true),
            ("api.example.com", "x.api.example.com", false),
            ("api.example.com", "api.example.com.evil.example", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.c.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("*.example.com", "a.example.com.evil.example", false),
            ("10.0.0.0/8", "a.example.com", false),
        ] {
            let (pattern, name) = (
                HostPattern::parse(pattern).unwrap(),
                host_name(name).unwrap(),
            );
            assert_eq!(pattern.matches_name(&name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn which_addresses_match() {
        for (pattern, address, expected) in [
            ("10.0.0.0/8", "10.255.255.255", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "a00::", false),
            ("0.0.0.0/0", "127.0.0.1", true),
            ("0.0.0.0/0", "::1", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("192.0.2.7/32", "192.0.2.7", true),
            ("192.0.2.6/31", "192.0.2.8", false),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::/0", "::1", true),
            ("::1/128", "::1", true),
            ("localhost", "127.0.0.1", false),
        ] {
            let pattern = HostPattern::parse(pattern).unwrap();
            let found = pattern.matches_address(address.parse().unwrap());
            assert_eq!(found, expected, "{pattern} {address}");
        }
    }
}
