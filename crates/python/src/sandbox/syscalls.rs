//! The calls that no safe crate has. All unsafe code of this crate is here, each block with its reason.
#![allow(
    unsafe_code,
    reason = "between fork and exec, and for two questions to the kernel, there is no safe interface"
)]

use std::ffi::{CString, c_char, c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;

use tokio::process::Command;

use super::child::Child;

/// `LANDLOCK_CREATE_RULESET_VERSION`: asks for the version instead of making a rule set.
const ASK_VERSION: u32 = 1;
/// The first descriptor that is not stdin, stdout or stderr.
const FIRST_OTHER_FD: u32 = 3;
/// No kernel numbers its capabilities higher: they are kept in two words of 32 bits.
const CAPABILITIES: u32 = 64;

/// The version of Landlock the kernel speaks; 0 without Landlock.
pub(super) fn landlock_abi() -> u32 {
    // SAFETY: with this flag the kernel reads no memory of ours; it takes a null pointer and size 0.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<u8>(),
            0usize,
            ASK_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Whether the kernel takes filters of system calls that answer with an error.
pub(super) fn has_seccomp() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one u32 at the pointer, which is valid during the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0u32,
            ptr::from_ref(&action),
        )
    };
    answer == 0
}

/// Lets the command's child confine itself after the fork and before it becomes the program.
pub(super) fn before_exec(command: &mut Command, mut child: Child) {
    // SAFETY: `Child::enter` makes system calls on what was built before the fork and stores numbers into
    // memory of its own. It neither allocates nor locks nor panics, so it does not matter that the other
    // threads are gone and their locks are not.
    unsafe {
        command.pre_exec(move || child.enter());
    }
}

/// Takes every capability out of the bounding set, as far as this process may.
pub(super) fn empty_bounding_set() {
    for capability in 0..CAPABILITIES {
        // SAFETY: takes numbers only. An unknown one is an error of no consequence; without the right
        // to do it the process has no capability to lose, and no_new_privs keeps it from getting one.
        unsafe {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
    }
}

/// Makes every descriptor but the first three end with the next exec. A kernel without the call keeps
/// those open that somebody made so.
pub(super) fn close_others_on_exec() {
    // SAFETY: takes numbers only and closes nothing now.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST_OTHER_FD,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

/// Confines the calling thread and what it starts to a Landlock rule set.
pub(super) fn landlock_restrict_self(rules: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a descriptor that is open during the call, and a number.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0u32) };
    checked(done)
}

/// Texts as the kernel takes them for a program: pointers, then a null.
pub(super) struct Texts {
    pointers: Vec<*const c_char>,
    /// What they point at.
    _texts: Vec<CString>,
}

// SAFETY: the pointers lead to heap memory that `_texts` owns and nobody changes; it moves with them.
unsafe impl Send for Texts {}
// SAFETY: as above, nothing is ever written.
unsafe impl Sync for Texts {}

impl Texts {
    pub(super) fn new(texts: Vec<CString>) -> Self {
        let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        pointers.push(ptr::null());
        Self {
            pointers,
            _texts: texts,
        }
    }
}

/// Becomes the program behind a descriptor. Comes back only with an error.
pub(super) fn exec(program: BorrowedFd<'_>, arguments: &Texts, variables: &Texts) -> io::Error {
    // SAFETY: an open descriptor, an empty path, two lists of pointers that end with a null and whose
    // texts live as long as the lists, and a number.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            arguments.pointers.as_ptr(),
            variables.pointers.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    io::Error::last_os_error()
}

fn checked(answer: c_long) -> io::Result<()> {
    const FAILED: c_int = -1;
    if answer == c_long::from(FAILED) {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
