//! [`Child`]: what a worker's process does between fork and exec, with what was made before the fork.
//!
//! After the fork only the forking thread is there, and the others' locks: nothing here may allocate,
//! lock or panic. It makes system calls and stores numbers into memory it has.
//!
//! There is no death signal of the parent here: the kernel sends it when the *thread* that forked ends, and
//! the runtime ends threads as it likes. A worker sees the end of its host by its pipe.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, getpid, getrlimit, set_child_subreaper, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};
use seccompiler::BpfProgram;
use tokio::process::Command;

use super::filter::{OWN_GROUP, OWN_PID};
use super::syscalls::{self, Texts};
use crate::limits::FILE_BYTES;

/// Everything the child needs, made before the fork.
pub(super) struct Child {
    /// None where the kernel has no Landlock.
    pub(super) rules: Option<OwnedFd>,
    /// Empty where the kernel has no seccomp.
    pub(super) filters: Vec<BpfProgram>,
    pub(super) open_files: u64,
    /// The program, where the filters refuse every other way to start one.
    pub(super) program: Option<Program>,
    /// Whether it may start processes: what outlives its own parent stays in its tree then.
    pub(super) may_start: bool,
}

/// The interpreter as the one program that may be started, once.
pub(super) struct Program {
    file: OwnedFd,
    arguments: Texts,
    variables: Texts,
}

impl Program {
    /// Of a command whose environment is cleared.
    pub(super) fn of(command: &Command) -> io::Result<Self> {
        let command = command.as_std();
        let path = Path::new(command.get_program());
        let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let arguments = std::iter::once(command.get_program()).chain(command.get_args());
        let variables = command
            .get_envs()
            .filter_map(|(name, value)| Some(variable(name, value?)));
        Ok(Self {
            file,
            arguments: Texts::new(arguments.map(text).collect::<io::Result<_>>()?),
            variables: Texts::new(variables.collect::<io::Result<_>>()?),
        })
    }
}

fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(io::Error::from)
}

fn variable(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let mut both = name.to_owned();
    both.push("=");
    both.push(value);
    text(&both)
}

impl Child {
    /// Confines the calling process, and becomes the program if it has one.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        set_no_new_privs(true)?;
        if self.may_start {
            set_child_subreaper(Some(getpid()))?;
        }
        let program = self.limit()?;
        drop_capabilities()?;
        if let Some(rules) = &self.rules {
            syscalls::landlock_restrict_self(rules.as_fd())?;
        }
        let own = getpid();
        for filter in &mut self.filters {
            name_own_process(filter, own);
            load(filter)?;
        }
        match (&self.program, program) {
            (Some(known), Some(file)) => Err(syscalls::exec(
                file.as_fd(),
                &known.arguments,
                &known.variables,
            )),
            _ => Ok(()),
        }
    }

    /// Sets the limits, and puts the program on a descriptor past them: the filter lets a program be
    /// started from such a one only, and none can be opened there any more.
    fn limit(&self) -> io::Result<Option<OwnedFd>> {
        let files = getrlimit(Resource::Nofile);
        let program = match &self.program {
            Some(program) => {
                let room = Rlimit {
                    current: files.maximum,
                    maximum: files.maximum,
                };
                setrlimit(Resource::Nofile, room)?;
                let first = RawFd::try_from(self.open_files).unwrap_or(RawFd::MAX);
                Some(rustix::io::fcntl_dupfd_cloexec(&program.file, first)?)
            }
            None => None,
        };
        syscalls::close_others_on_exec();
        lower(Resource::Nofile, self.open_files)?;
        lower(Resource::Fsize, FILE_BYTES)?;
        lower(Resource::Core, 0)?;
        Ok(program)
    }
}

/// Lowers a limit for good; one that is lower stays.
fn lower(resource: Resource, to: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let lowered = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let limit = Rlimit {
        current: lowered(now.current),
        maximum: lowered(now.maximum),
    };
    Ok(setrlimit(resource, limit)?)
}

fn drop_capabilities() -> io::Result<()> {
    syscalls::empty_bounding_set();
    // A kernel without an ambient set has nothing in it.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

/// The filter was compiled before there was a process: its number is filled in where its place is kept.
fn name_own_process(filter: &mut BpfProgram, own: Pid) {
    let pid = own.as_raw_nonzero().get();
    for instruction in filter.iter_mut() {
        if instruction.k == OWN_PID {
            instruction.k = pid.cast_unsigned();
        } else if instruction.k == OWN_GROUP {
            instruction.k = pid.wrapping_neg().cast_unsigned();
        }
    }
}

fn load(filter: &BpfProgram) -> io::Result<()> {
    match seccompiler::apply_filter(filter) {
        Ok(()) => Ok(()),
        Err(seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error)) => Err(error),
        Err(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seccompiler::sock_filter;

    #[test]
    fn the_places_of_the_own_process_are_filled_in_and_nothing_else() {
        let of = |k| sock_filter {
            code: 0,
            jt: 0,
            jf: 0,
            k,
        };
        let mut filter = vec![of(OWN_PID), of(7), of(OWN_GROUP)];
        name_own_process(
            &mut filter,
            Pid::from_raw(300).expect("a number above zero"),
        );
        let values: Vec<u32> = filter.iter().map(|instruction| instruction.k).collect();
        assert_eq!(values, [300, 7, u32::MAX - 299]);
    }
}
