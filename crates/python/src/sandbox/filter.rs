//! The filter of system calls: two programs, compiled before the fork.
//!
//! The first knows the calls a worker may make and those that are refused by name; whatever else a kernel
//! has, now or later, is answered as if the kernel were too old for it (`ENOSYS`), which libraries expect
//! and get along with. The second answers what is refused, or refused with these arguments, with `EPERM`,
//! which Python raises as `PermissionError`. A call is made only if both agree.

use std::io;

use seccompiler::{BpfProgram, TargetArch};
use serde_json::{Value, json};

use super::calls::{
    ALLOWED, ALLOWED_X86_64, ANSWERED, CONNECTING, REFUSED, REFUSED_X86_64, STARTING,
    STARTING_X86_64,
};

/// Where a filter holds the number of the worker's own process, filled in after the fork. Neither is a
/// number the kernel gives to a process.
pub(super) const OWN_PID: u32 = 0x5afe_0001;
/// The same for its process group, as `kill` takes it: the number negated.
pub(super) const OWN_GROUP: u32 = 0x5afe_0002;

/// What a filter depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) network: bool,
    pub(super) processes: bool,
    /// The first descriptor past the limit on open files.
    pub(super) open_files: u64,
}

/// The programs of this machine's architecture.
pub(super) fn for_this_machine(wanted: Wanted) -> io::Result<Vec<BpfProgram>> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|error| io::Error::other(error.to_string()))?;
    compile(wanted, arch)
}

/// Compiles both programs.
pub(super) fn compile(wanted: Wanted, arch: TargetArch) -> io::Result<Vec<BpfProgram>> {
    let on_x86_64 = arch == TargetArch::x86_64;
    let own = |names: &'static [&'static str]| if on_x86_64 { names } else { &[] };
    let known = [
        ALLOWED,
        own(ALLOWED_X86_64),
        REFUSED,
        own(REFUSED_X86_64),
        ANSWERED,
        CONNECTING,
        STARTING,
        own(STARTING_X86_64),
    ]
    .concat()
    .into_iter()
    .map(any)
    .collect();
    let mut refused: Vec<Value> = [REFUSED, own(REFUSED_X86_64), ANSWERED]
        .concat()
        .into_iter()
        .map(any)
        .collect();
    refused.extend(always());
    if wanted.network {
        refused.extend(connections());
    } else {
        refused.extend(CONNECTING.iter().copied().map(any));
        // Without an address it is `send`, of a socket pair.
        refused.push(with("sendto", &[not_zero(4)]));
    }
    if wanted.processes {
        refused.extend(namespaces());
    } else {
        refused.extend(own(STARTING_X86_64).iter().copied().map(any));
        refused.extend(alone(wanted.open_files));
    }
    // `errno` of "no such call" and "not permitted".
    let enosys = rustix::io::Errno::NOSYS.raw_os_error();
    let eperm = rustix::io::Errno::PERM.raw_os_error();
    Ok(vec![
        program(&json!({"errno": enosys}), &json!("allow"), known, arch)?,
        program(&json!("allow"), &json!({"errno": eperm}), refused, arch)?,
    ])
}

fn program(
    otherwise: &Value,
    matched: &Value,
    rules: Vec<Value>,
    arch: TargetArch,
) -> io::Result<BpfProgram> {
    let filters =
        json!({"worker": {"mismatch_action": otherwise, "match_action": matched, "filter": rules}});
    let mut programs = seccompiler::compile_from_json(filters.to_string().as_bytes(), arch)
        .map_err(|error| io::Error::other(error.to_string()))?;
    programs
        .remove("worker")
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn any(syscall: &str) -> Value {
    json!({ "syscall": syscall })
}

fn with(syscall: &str, conditions: &[Value]) -> Value {
    json!({ "syscall": syscall, "args": conditions })
}

fn condition(index: u8, op: Value, value: u32) -> Value {
    json!({ "index": index, "type": "dword", "op": op, "val": value })
}

fn is(index: u8, value: u32) -> Value {
    condition(index, json!("eq"), value)
}

fn is_not(index: u8, value: u32) -> Value {
    condition(index, json!("ne"), value)
}

fn has_bit(index: u8, bit: u32) -> Value {
    condition(index, json!({ "masked_eq": bit }), bit)
}

/// Of a pointer, which has 64 bits.
fn not_zero(index: u8) -> Value {
    json!({ "index": index, "type": "qword", "op": "ne", "val": 0 })
}

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
/// The kind of a socket is in these bits of the argument; above them are flags.
const SOCK_KINDS: u32 = 0xf;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
/// Sends with the first packet, past what Landlock sees of a connection.
const MSG_FASTOPEN: u32 = 0x2000_0000;

/// Refused whatever is granted.
fn always() -> Vec<Value> {
    // Only its own limits: a process of the same user could lower the engine's.
    let mut refused = vec![
        with("prlimit64", &[is_not(0, 0), is_not(0, OWN_PID)]),
        with("sched_setaffinity", &[is_not(0, 0), is_not(0, OWN_PID)]),
        with("setpriority", &[is_not(0, 0)]),
        with("setpriority", &[is_not(1, 0), is_not(1, OWN_PID)]),
        // By descriptor the times of a file it could open; by path those of any file.
        with("utimensat", &[not_zero(1)]),
    ];
    const F_SETOWN: u32 = 8;
    const F_SETSIG: u32 = 10;
    const F_SETOWN_EX: u32 = 15;
    // Signals about descriptors, sent to whatever process is named.
    for command in [F_SETOWN, F_SETSIG, F_SETOWN_EX] {
        refused.push(with("fcntl", &[is(1, command)]));
    }
    const FIOSETOWN: u32 = 0x8901;
    const SIOCSPGRP: u32 = 0x8902;
    const TIOCSTI: u32 = 0x5412;
    const TIOCLINUX: u32 = 0x541c;
    // The same, and typing into a terminal.
    for request in [FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX] {
        refused.push(with("ioctl", &[is(1, request)]));
    }
    // A pair is connected to itself for ever only if it is a stream; a datagram could be sent elsewhere.
    refused.push(with("socketpair", &[is_not(0, AF_UNIX)]));
    refused.extend(other_kinds("socketpair", &[SOCK_STREAM]));
    refused
}

/// Refused although the network is granted: all but TCP and UDP over IP.
fn connections() -> Vec<Value> {
    let mut refused = vec![
        with("socket", &[is_not(0, AF_INET), is_not(0, AF_INET6)]),
        // MPTCP and SMC connect as well, and Landlock does not see them.
        with(
            "socket",
            &[is_not(2, 0), is_not(2, IPPROTO_TCP), is_not(2, IPPROTO_UDP)],
        ),
        with("sendto", &[has_bit(3, MSG_FASTOPEN)]),
        with("sendmsg", &[has_bit(2, MSG_FASTOPEN)]),
        with("sendmmsg", &[has_bit(3, MSG_FASTOPEN)]),
    ];
    // Names are resolved over UDP.
    refused.extend(other_kinds("socket", &[SOCK_STREAM, SOCK_DGRAM]));
    refused
}

fn other_kinds(syscall: &'static str, allowed: &[u32]) -> impl Iterator<Item = Value> {
    let allowed = allowed.to_vec();
    (0..=SOCK_KINDS)
        .filter(move |kind| !allowed.contains(kind))
        .map(move |kind| {
            with(
                syscall,
                &[condition(1, json!({ "masked_eq": SOCK_KINDS }), kind)],
            )
        })
}

const CLONE_PARENT: u32 = 0x8000;
const CLONE_THREAD: u32 = 0x1_0000;
/// New mounts, cgroup, names, IPC, users, process numbers, network; that of times needs `unshare`.
const CLONE_NEW: [u32; 7] = [
    0x2_0000,
    0x200_0000,
    0x400_0000,
    0x800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];

/// Refused although processes are granted.
fn namespaces() -> Vec<Value> {
    // A child of the engine's own would be waited for by nobody.
    let flags = CLONE_NEW.into_iter().chain([CLONE_PARENT]);
    flags
        .map(|flag| with("clone", &[has_bit(0, flag)]))
        .collect()
}

/// Refused where no processes are granted: the worker is alone, and there is nobody else to signal.
fn alone(open_files: u64) -> Vec<Value> {
    const AT_FDCWD_AND_BELOW_ZERO: u32 = 0x7fff_ffff;
    const AT_EMPTY_PATH: u32 = 0x1000;
    let open_files = u32::try_from(open_files).unwrap_or(u32::MAX);
    let less = condition(0, json!("lt"), open_files);
    let below_zero = condition(0, json!("gt"), AT_FDCWD_AND_BELOW_ZERO);
    vec![
        with(
            "clone",
            &[condition(0, json!({ "masked_eq": CLONE_THREAD }), 0)],
        ),
        any("execve"),
        // The interpreter itself is started from a descriptor that nothing can take a second time.
        with("execveat", &[less]),
        with("execveat", &[below_zero]),
        with("execveat", &[is_not(4, AT_EMPTY_PATH)]),
        any("setsid"),
        any("setpgid"),
        any("pidfd_send_signal"),
        with(
            "kill",
            &[is_not(0, 0), is_not(0, OWN_PID), is_not(0, OWN_GROUP)],
        ),
        with("tgkill", &[is_not(0, OWN_PID)]),
        // The main thread's number is the process's; another thread's `tgkill` is the one in use.
        with("tkill", &[is_not(0, OWN_PID)]),
        with("rt_sigqueueinfo", &[is_not(0, OWN_PID)]),
        with("rt_tgsigqueueinfo", &[is_not(0, OWN_PID)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most instructions the kernel takes in a program.
    const BPF_MAXINSNS: usize = 4096;

    #[test]
    fn every_filter_compiles_for_both_architectures() {
        for arch in [TargetArch::x86_64, TargetArch::aarch64] {
            for (network, processes) in [(false, false), (true, false), (false, true), (true, true)]
            {
                let wanted = Wanted {
                    network,
                    processes,
                    open_files: 1024,
                };
                let programs =
                    compile(wanted, arch).unwrap_or_else(|error| panic!("{arch:?}: {error}"));
                assert_eq!(programs.len(), 2);
                for program in &programs {
                    assert!(program.len() < BPF_MAXINSNS, "{arch:?}: {}", program.len());
                }
                let holds = |value| programs[1].iter().any(|instruction| instruction.k == value);
                assert!(holds(OWN_PID), "{arch:?}: limits name the own process");
                assert_eq!(
                    holds(OWN_GROUP),
                    !processes,
                    "{arch:?}: signals do where it is alone"
                );
            }
        }
    }

    #[test]
    fn no_call_is_both_allowed_and_refused() {
        for name in REFUSED.iter().chain(REFUSED_X86_64).chain(ANSWERED) {
            let allowed = ALLOWED
                .iter()
                .chain(ALLOWED_X86_64)
                .chain(CONNECTING)
                .chain(STARTING);
            assert!(
                !allowed.chain(STARTING_X86_64).any(|other| other == name),
                "{name}"
            );
        }
    }
}
