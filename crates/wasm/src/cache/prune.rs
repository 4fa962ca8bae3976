//! Keeps the cache within its bound: what was used longest ago goes first, whatever engine it is for.
//!
//! No lock is taken. Every process removes in the same order, so that two at once remove what one would
//! have removed; what another has removed already is gone as it should be; and a file that is mapped stays
//! whole for whoever has it.

use std::io;
use std::time::{Duration, SystemTime};

use cap_std::fs::MetadataExt as _;

use super::folder::{Folder, finished_name};
use super::seal::is_code;

/// Age from which an unfinished file is what a crash left: writing one takes seconds.
const LEFTOVER_AGE: Duration = Duration::from_secs(3_600);

/// One file of the cache.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    used: SystemTime,
    name: String,
    bytes: u64,
}

/// Removes leftovers, then files until the rest is within `max_bytes`. What is being written counts once it
/// is there, for its writer, who then does this too. Files of other users and all that is not named like
/// ours neither count nor go.
pub(super) fn prune(folder: &Folder, max_bytes: u64, now: SystemTime) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in folder.dir().entries()? {
        let Ok(name) = entry?.file_name().into_string() else {
            continue;
        };
        let unfinished = finished_name(&name).is_some_and(is_code);
        if !unfinished && !is_code(&name) {
            continue;
        }
        let Some(entry) = look(folder, name)? else {
            continue;
        };
        let age = now.duration_since(entry.used).unwrap_or_default();
        match unfinished {
            true if age > LEFTOVER_AGE => remove(folder, &entry)?,
            true => {}
            false => entries.push(entry),
        }
    }
    entries.sort();
    let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
    for entry in entries {
        if total <= max_bytes {
            break;
        }
        // Used or written anew since the look: it is not the oldest any more.
        let now_there = look(folder, entry.name.clone())?;
        if now_there.is_none_or(|there| there == entry) {
            remove(folder, &entry)?;
            total -= entry.bytes;
        }
    }
    Ok(())
}

/// A file of ours as it is now; none if it is gone, or no file, or another user's.
fn look(folder: &Folder, name: String) -> io::Result<Option<Entry>> {
    let metadata = match folder.dir().symlink_metadata(&name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() || metadata.uid() != folder.owner() {
        return Ok(None);
    }
    Ok(Some(Entry {
        used: metadata.modified()?.into_std(),
        name,
        bytes: metadata.len(),
    }))
}

fn remove(folder: &Folder, entry: &Entry) -> io::Result<()> {
    match folder.dir().remove_file(&entry.name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    /// A cache with one file of each age in seconds, all of ten bytes, named by a digit.
    fn cache(ages: &[(char, u64)], now: SystemTime) -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(root.path()).unwrap_or_else(|problem| panic!("{problem}"));
        for (digit, age) in ages {
            file(root.path(), &name(*digit), *age, now);
        }
        (root, folder)
    }

    fn name(digit: char) -> String {
        let word = |digits| digit.to_string().repeat(digits);
        format!("{}-{}.cwasm", word(64), word(16))
    }

    fn file(root: &Path, name: &str, age: u64, now: SystemTime) {
        let path = root.join(name);
        std::fs::write(&path, [0; 10]).expect("a file");
        let file = std::fs::File::options()
            .write(true)
            .open(path)
            .expect("it is there");
        file.set_modified(now - Duration::from_secs(age))
            .expect("its time");
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(root).expect("the files");
        let name = |entry: io::Result<std::fs::DirEntry>| entry.expect("one").file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let now = SystemTime::now();
        let kept_by_bound = [
            (40, "1234"),
            (39, "124"),
            (30, "124"),
            (29, "14"),
            (10, "4"),
            (9, ""),
            (0, ""),
        ];
        for (max_bytes, kept) in kept_by_bound {
            // 3 is the oldest, then 2, 1, 4.
            let (root, folder) = cache(&[('1', 20), ('2', 30), ('3', 40), ('4', 10)], now);
            prune(&folder, max_bytes, now).expect("pruned");
            let kept: Vec<String> = kept.chars().map(name).collect();
            assert_eq!(names(root.path()), kept, "{max_bytes} bytes");
        }
    }

    #[test]
    fn files_of_other_engines_count_and_others_do_not() {
        let now = SystemTime::now();
        let (root, folder) = cache(&[('1', 20)], now);
        let other_engine = name('1').replace("-1111111111111111", "-2222222222222222");
        let not_ours = [
            "notes.txt",
            "plugin.cwasm",
            "1234-5678.cwasm",
            &format!("{}.bak", name('1')),
        ];
        file(root.path(), &other_engine, 50, now);
        for name in not_ours {
            file(root.path(), name, 90, now);
        }
        std::fs::create_dir(root.path().join(name('5'))).expect("a folder");
        std::os::unix::fs::symlink("notes.txt", root.path().join(name('6'))).expect("a link");
        prune(&folder, 15, now).expect("pruned");
        let mut kept: Vec<String> = not_ours.map(str::to_owned).to_vec();
        kept.extend(['1', '5', '6'].map(name));
        kept.sort();
        assert_eq!(names(root.path()), kept);
    }

    #[test]
    fn unfinished_files_go_when_nobody_can_be_writing_them() {
        let now = SystemTime::now();
        let (root, folder) = cache(&[], now);
        let unfinished = |what: &str| format!("{}.7-0-{what}.new", name('1'));
        let ages = BTreeMap::from([("1", 0), ("2", 3_600), ("3", 3_601), ("4", 1_000_000)]);
        for (what, age) in &ages {
            file(root.path(), &unfinished(what), *age, now);
        }
        file(root.path(), "letter.new", 1_000_000, now);
        prune(&folder, 0, now).expect("pruned");
        let kept = [unfinished("1"), unfinished("2"), "letter.new".to_owned()];
        assert_eq!(names(root.path()), kept);
    }

    #[test]
    fn two_at_once_remove_what_one_would() {
        let now = SystemTime::now();
        let ages: Vec<(char, u64)> = ('0'..='9').chain('a'..='f').zip(10..).collect();
        let (root, folder) = cache(&ages, now);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| prune(&folder, 80, now).expect("pruned"));
            }
        });
        let kept: Vec<String> = ('0'..='7').map(name).collect();
        assert_eq!(names(root.path()), kept);
    }
}
