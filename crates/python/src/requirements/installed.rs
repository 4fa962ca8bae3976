//! Whether requirements are met by what is installed.

use std::collections::BTreeMap;

use super::{canonical, markers, split_name, versions};

/// The requirements that are not met, each with why. `packages` are canonical names and versions, `values`
/// the variables of markers.
pub(crate) fn unmet(
    requirements: &[String],
    packages: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Vec<String> {
    let why = |line: &String| one(line, packages, values).map(|why| format!("{line} ({why})"));
    requirements.iter().filter_map(why).collect()
}

fn one(
    line: &str,
    packages: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Option<String> {
    let Some((name, rest)) =
        split_name(line).filter(|(_, rest)| !rest.trim_start().starts_with('@'))
    else {
        return Some("only a version of a name can be compared with what is installed".into());
    };
    let (specifiers, marker) = match rest.split_once(';') {
        Some((specifiers, marker)) => (specifiers, Some(marker)),
        None => (rest, None),
    };
    match marker.map(|marker| markers::holds(marker, values)) {
        Some(None) => return Some("its marker cannot be read".into()),
        // Nothing is asked for here.
        Some(Some(false)) => return None,
        Some(Some(true)) | None => {}
    }
    let Some(version) = packages.get(&canonical(name)) else {
        return Some("not installed".into());
    };
    let specifiers = specifiers.trim();
    let specifiers = match specifiers.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(_, after)| after),
        None => specifiers,
    };
    let specifiers = specifiers
        .trim()
        .trim_start_matches('(')
        .trim_end_matches(')');
    match versions::allows(specifiers, version) {
        Some(true) => None,
        Some(false) => Some(format!("{version} is installed")),
        None => Some(format!(
            "it cannot be compared with {version}, which is installed"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_met_is_named_with_why() {
        let map = |pairs: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            pairs.iter().map(pair).collect::<BTreeMap<_, _>>()
        };
        let packages = map(&[("some-package", "1.5"), ("odd", "not-a-version")]);
        let values = map(&[("python_version", "3.11")]);
        let asked = [
            "Some_Package[extra] >=1, <2",
            "some-package",
            "some-package (==1.*)",
            "absent; python_version < '3'",
            "absent",
            "some-package==2",
            "some-package @ https://example.org/x.whl",
            "./x.whl",
            "some-package; nonsense",
            "odd>1",
        ];
        let asked = asked.map(str::to_owned);
        assert_eq!(
            unmet(&asked, &packages, &values),
            [
                "absent (not installed)",
                "some-package==2 (1.5 is installed)",
                "some-package @ https://example.org/x.whl (only a version of a name can be compared with what is installed)",
                "./x.whl (only a version of a name can be compared with what is installed)",
                "some-package; nonsense (its marker cannot be read)",
                "odd>1 (it cannot be compared with not-a-version, which is installed)",
            ]
        );
    }
}
