//! Versions and what specifiers say about them, as the packaging standard orders and matches them.

use std::cmp::Ordering;

/// A version, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    epoch: u64,
    release: Vec<u64>,
    /// `a`, `b` or `rc`, and which.
    pre: Option<(&'static str, u64)>,
    post: Option<u64>,
    dev: Option<u64>,
    local: Vec<Segment>,
}

/// A part of a local version; words come before numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Word(String),
    Number(u64),
}

impl Version {
    /// None for what is no version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let text = text.strip_prefix('v').unwrap_or(&text);
        let (public, local) = match text.split_once('+') {
            Some((public, local)) => (public, local_segments(local)?),
            None => (text, Vec::new()),
        };
        let mut rest = Rest(public);
        let mut epoch = 0;
        if let Some((number, after)) = public.split_once('!') {
            epoch = number.parse().ok()?;
            rest = Rest(after);
        }
        let mut release = vec![rest.number()?];
        while let Some(after) = rest.0.strip_prefix('.') {
            let mut next = Rest(after);
            let Some(number) = next.number() else { break };
            release.push(number);
            rest = next;
        }
        let pre = rest.labelled(&[
            ("alpha", "a"),
            ("beta", "b"),
            ("preview", "rc"),
            ("pre", "rc"),
            ("rc", "rc"),
            ("a", "a"),
            ("b", "b"),
            ("c", "rc"),
        ])?;
        let post = match rest.0.strip_prefix('-').map(Rest) {
            Some(mut bare) if bare.0.starts_with(|c: char| c.is_ascii_digit()) => {
                let number = bare.number()?;
                rest = bare;
                Some(number)
            }
            _ => {
                let labels = [("post", "post"), ("rev", "post"), ("r", "post")];
                rest.labelled(&labels)?.map(|(_, number)| number)
            }
        };
        let dev = rest.labelled(&[("dev", "dev")])?.map(|(_, number)| number);
        rest.0.is_empty().then_some(Self {
            epoch,
            release,
            pre,
            post,
            dev,
            local,
        })
    }

    fn is_prerelease(&self) -> bool {
        self.pre.is_some() || self.dev.is_some()
    }

    fn same_base(&self, other: &Self) -> bool {
        self.epoch == other.epoch && trimmed(&self.release) == trimmed(&other.release)
    }

    fn public(&self) -> Self {
        Self {
            local: Vec::new(),
            ..self.clone()
        }
    }

    fn starts_with(&self, epoch: u64, prefix: &[u64]) -> bool {
        let part = |at| self.release.get(at).copied().unwrap_or(0);
        self.epoch == epoch
            && prefix
                .iter()
                .enumerate()
                .all(|(at, number)| part(at) == *number)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // What comes before a release comes before it also when it is the only part: 1.dev1 < 1a1 < 1.
        let pre = |version: &Self| match (version.pre, version.post, version.dev) {
            (Some(pre), ..) => (1, Some(pre)),
            (None, None, Some(_)) => (0, None),
            _ => (2, None),
        };
        let dev = |version: &Self| version.dev.map_or((1, 0), |number| (0, number));
        self.epoch
            .cmp(&other.epoch)
            .then_with(|| trimmed(&self.release).cmp(trimmed(&other.release)))
            .then_with(|| pre(self).cmp(&pre(other)))
            .then_with(|| self.post.cmp(&other.post))
            .then_with(|| dev(self).cmp(&dev(other)))
            .then_with(|| self.local.cmp(&other.local))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether the version is one that the comma-separated specifiers allow; none if either cannot be read.
/// A pre-release that is installed counts as any other.
pub(super) fn allows(specifiers: &str, installed: &str) -> Option<bool> {
    let mut all = true;
    for specifier in specifiers.split(',').map(str::trim) {
        if !specifier.is_empty() {
            all &= allows_one(specifier, installed)?;
        }
    }
    Some(all)
}

fn allows_one(specifier: &str, installed: &str) -> Option<bool> {
    let end = specifier.find(|c: char| !"=<>!~".contains(c))?;
    let (operator, asked) = specifier.split_at(end);
    let asked = asked.trim();
    if operator == "===" {
        return Some(asked.eq_ignore_ascii_case(installed.trim()));
    }
    let found = Version::parse(installed)?;
    if let Some(prefix) = asked.strip_suffix(".*") {
        let prefix = Version::parse(prefix)?;
        let under = found.starts_with(prefix.epoch, &prefix.release);
        return match operator {
            "==" => Some(under),
            "!=" => Some(!under),
            _ => None,
        };
    }
    let asked = Version::parse(asked)?;
    // A local version counts only where one is asked for.
    let equal = || match asked.local.is_empty() {
        true => found.public().cmp(&asked).is_eq(),
        false => found.cmp(&asked).is_eq(),
    };
    Some(match operator {
        "==" => equal(),
        "!=" => !equal(),
        "<=" => found.public() <= asked,
        ">=" => found.public() >= asked,
        "<" => {
            let early = !asked.is_prerelease() && found.is_prerelease() && found.same_base(&asked);
            found < asked && !early
        }
        ">" => {
            let late = asked.post.is_none() && found.post.is_some() && found.same_base(&asked);
            let local = !found.local.is_empty() && found.same_base(&asked);
            found > asked && !late && !local
        }
        "~=" => {
            let (_, prefix) = asked
                .release
                .split_last()
                .filter(|(_, rest)| !rest.is_empty())?;
            found.public() >= asked && found.starts_with(asked.epoch, prefix)
        }
        _ => return None,
    })
}

/// Without the zeros at its end.
fn trimmed(release: &[u64]) -> &[u64] {
    let end = release.iter().rposition(|number| *number != 0);
    &release[..end.map_or(0, |at| at + 1)]
}

fn local_segments(text: &str) -> Option<Vec<Segment>> {
    let segment = |part: &str| {
        let fits = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        let number = part.parse().ok().map(Segment::Number);
        fits.then(|| number.unwrap_or_else(|| Segment::Word(part.to_owned())))
    };
    text.split(['.', '-', '_']).map(segment).collect()
}

/// What is left of a version.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn number(&mut self) -> Option<u64> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let number = self.0[..end].parse().ok()?;
        self.0 = &self.0[end..];
        Some(number)
    }

    /// One of the labels with its number, 0 if it has none; the outer option is none for a number that is
    /// too long.
    fn labelled(&mut self, labels: &[(&str, &'static str)]) -> Option<Option<(&'static str, u64)>> {
        let text = self.0.strip_prefix(['.', '-', '_']).unwrap_or(self.0);
        let Some((after, label)) = labels
            .iter()
            .find_map(|(spelled, label)| Some((text.strip_prefix(spelled)?, *label)))
        else {
            return Some(None);
        };
        let mut rest = Rest(after.strip_prefix(['.', '-', '_']).unwrap_or(after));
        if !rest.0.starts_with(|c: char| c.is_ascii_digit()) {
            // A separator without a number belongs to what comes next.
            self.0 = after;
            return Some(Some((label, 0)));
        }
        let number = rest.number()?;
        self.0 = rest.0;
        Some(Some((label, number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order the standard gives as its example, with its own spelling variants.
    #[test]
    fn versions_are_ordered_as_the_standard_orders_them() {
        let ordered = [
            "1.dev0",
            "1.0.dev456",
            "1.0a1",
            "1.0a2.dev456",
            "1.0a12.dev456",
            "1.0a12",
            "1.0b1.dev456",
            "1.0b2",
            "1.0b2.post345.dev456",
            "1.0b2.post345",
            "1.0rc1.dev456",
            "1.0rc1",
            "1.0",
            "1.0+abc.5",
            "1.0+abc.7",
            "1.0+5",
            "1.0.post456.dev34",
            "1.0.post456",
            "1.0.15",
            "1.1.dev1",
            "1!0.1",
        ];
        for pair in ordered.windows(2) {
            let versions = [pair[0], pair[1]].map(|text| Version::parse(text).expect(text));
            assert!(versions[0] < versions[1], "{pair:?}");
        }
        for (one, other) in [
            ("1.0", "v1.0.0"),
            ("1.0-alpha.1", "1.0a1"),
            ("1.0c1", "1.0rc1"),
            ("1.0-1", "1.0.post1"),
            ("1.0rev", "1.0post0"),
            ("1.0_dev", "1.0.dev0"),
            ("1.0+ubuntu-1", "1.0+ubuntu.1"),
        ] {
            let versions = [one, other].map(|text| Version::parse(text).expect(text));
            assert_eq!(
                versions[0].cmp(&versions[1]),
                Ordering::Equal,
                "{one} {other}"
            );
        }
        for wrong in [
            "",
            "x",
            "1.0x",
            "1..0",
            "1.0+",
            "1.0+a..b",
            "99999999999999999999",
        ] {
            assert!(Version::parse(wrong).is_none(), "{wrong}");
        }
    }

    /// Examples of the standard's text.
    #[test]
    fn specifiers_allow_what_the_standard_says() {
        for (specifiers, version, allowed) in [
            ("~=2.2", "2.9", true),
            ("~=2.2", "3.0", false),
            ("~=1.4.5", "1.4.9", true),
            ("~=1.4.5", "1.5", false),
            ("~=2.2.post3", "2.2.post2", false),
            ("~=2.2.post3", "2.3", true),
            ("==1.1", "1.1.post1", false),
            ("==1.1.*", "1.1.post1", true),
            ("==1.1.*", "1.1a1", true),
            ("==1.1", "1.1.0", true),
            ("==1.1", "1.1+local", true),
            ("==1.1+local", "1.1", false),
            ("!=1.1", "1.1.post1", true),
            ("!=1.1.*", "1.1.post1", false),
            (">1.7", "1.7.1", true),
            (">1.7", "1.7.0.post1", false),
            (">1.7.post2", "1.7.post3", true),
            (">1.7", "1.7+local", false),
            ("<1.7", "1.7rc1", false),
            ("<1.7rc2", "1.7rc1", true),
            (">=1.0,<2", "1.5", true),
            (">=1.0,<2", "2", false),
            ("<=1.0", "1.0+x", true),
            ("===1.0", "1.0", true),
            ("===1.0", "1.0.0", false),
            ("", "1", true),
        ] {
            assert_eq!(
                allows(specifiers, version),
                Some(allowed),
                "{specifiers} {version}"
            );
        }
        for wrong in ["~=1", "=1", ">=x", ">=1.*"] {
            assert_eq!(allows(wrong, "1"), None, "{wrong}");
        }
    }
}
