//! Which requirement an installer could not meet, from what it said.

use super::canonical;

/// The part of a tool's last lines that complains, its words spelled as names of distributions are.
/// Before it stands what went well, and that names everything.
pub(super) fn complaint(said: &str) -> Vec<String> {
    let begins = |line: &str| {
        let line = line.trim_start().to_lowercase();
        ["error", "×", "x ", "fatal"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    said.lines()
        .skip_while(|line| !begins(line))
        .flat_map(words)
        .collect()
}

/// Whether the complaint names the requirement: its distribution, or all that it says.
pub(super) fn names(complaint: &[String], line: &str, distribution: Option<&str>) -> bool {
    match distribution {
        Some(name) => complaint.iter().any(|word| word == name),
        None => {
            let asked: Vec<String> = words(line).collect();
            !asked.is_empty() && complaint.windows(asked.len()).any(|part| part == asked)
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .map(|word| canonical(word.trim_matches(['-', '_', '.'])))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::requirements::Requirements;

    #[test]
    fn the_requirement_that_failed_is_named_in_either_installers_words() {
        let listed = ["cpex", "Some_Package>=2", "zip==1"].map(str::to_owned);
        let read = Requirements::read(&listed, None, "/".as_ref(), false).expect("readable");
        let pip = "Collecting cpex\nCollecting zip==1\n\
            ERROR: Could not find a version that satisfies the requirement some-package>=2 (from versions: none)\n\
            ERROR: No matching distribution found for some-package>=2";
        let uv = "error: No solution found when resolving dependencies\n  \
            cause: Because some-package was not found in the package registry and you require some-package>=2, \
            we can conclude that your requirements are unsatisfiable.";
        let old_uv = "  × No solution found when resolving dependencies:\n  \
            ╰─▶ Because there is no version of some-package>=2 and you require it";
        for said in [pip, uv, old_uv] {
            assert_eq!(read.blamed(said), ["some-package>=2"], "{said}");
        }
        assert_eq!(read.blamed("error: no network"), Vec::<&str>::new());
        assert_eq!(
            read.blamed("Collecting cpex\nCollecting zip"),
            Vec::<&str>::new()
        );
    }
}
