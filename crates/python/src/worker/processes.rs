//! The processes of a worker, as `/proc` shows them.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    group: i32,
    /// Clock ticks since the system started; with the number it names one process for good.
    pub(super) began: u64,
}

impl Process {
    /// None if there is no such process.
    pub(super) fn read(pid: Pid) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name in parentheses may hold anything, parentheses and spaces too.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The leader, its group, and whatever descends from it.
pub(super) fn tree(leader: Pid) -> Vec<Process> {
    let mut others: Vec<Process> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter_map(Process::read)
        .collect();
    let own = leader.as_raw_nonzero().get();
    let mut tree = Vec::new();
    loop {
        let (found, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|one| {
            let of_tree = |pid| {
                tree.iter()
                    .any(|known: &Process| known.pid.as_raw_nonzero().get() == pid)
            };
            one.pid == leader || one.group == own || of_tree(one.parent)
        });
        others = rest;
        if found.is_empty() {
            return tree;
        }
        tree.extend(found);
    }
}

/// Bytes they use together, in memory and swapped out. What several share counts once; that is costly to
/// find, so it is only looked at when the plain sum is past `limit`.
pub(super) fn memory(processes: &[Process], limit: u64) -> u64 {
    let sum = |of: fn(&Process) -> Option<u64>| processes.iter().filter_map(of).sum();
    let plain: u64 = sum(resident);
    if plain <= limit || processes.len() < 2 {
        return plain;
    }
    sum(|process| proportional(process).or_else(|| resident(process)))
}

fn resident(process: &Process) -> Option<u64> {
    fields(process, "status", &["VmRSS:", "VmSwap:"])
}

fn proportional(process: &Process) -> Option<u64> {
    fields(process, "smaps_rollup", &["Pss:", "SwapPss:"])
}

/// The sum of lines such as `VmRSS:   1024 kB`; none if there are none, as of a process that has ended.
fn fields(process: &Process, file: &str, names: &[&str]) -> Option<u64> {
    let path = format!("/proc/{}/{file}", process.pid.as_raw_nonzero());
    let text = fs::read_to_string(path).ok()?;
    let values: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            let rest = names.iter().find_map(|name| line.strip_prefix(name))?;
            rest.trim().strip_suffix(" kB")?.parse().ok()
        })
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<u64>() * 1024)
}

/// Ends a process, if it is still the one that began then.
pub(super) fn end(pid: Pid, began: u64) {
    // Opened before the look: from here on it is this process, whoever gets its number later.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    if Process::read(pid).is_some_and(|process| process.began == began) {
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpid;
    use std::process::Command;

    #[test]
    fn a_child_is_in_the_tree_and_its_memory_counts() {
        let mut child = Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("sleep runs");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("above zero");
        let tree = tree(getpid());
        let found = tree
            .iter()
            .find(|one| one.pid == pid)
            .expect("the child is in it");
        let (own, both) = (memory(&tree[..1], u64::MAX), memory(&tree, u64::MAX));
        assert!(own > 0 && both > own, "{own} {both}");
        // Shared pages count once when it matters.
        assert!(memory(&tree, 0) <= both);

        end(pid, found.began + 1);
        assert!(
            child.try_wait().expect("a look").is_none(),
            "another process has that number"
        );
        end(pid, found.began);
        assert!(!child.wait().expect("an end").success());
        assert_eq!(Process::read(pid), None);
    }
}
