//! The Landlock rule set of a worker.

use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort,
    PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};

use super::files::{FileRule, Right};

/// The newest version whose rights this was written for and tested with; what newer ones add stays off.
const NEWEST: u32 = 7;

/// Makes the rule set. It is open for whoever confines itself with it, and closed at an exec.
pub(super) fn rule_set(abi: u32, files: &[FileRule], ports: &[u16]) -> io::Result<Option<OwnedFd>> {
    let abi = version(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(io::Error::other)?;
    if !AccessNet::from_all(abi).is_empty() {
        rules = rules
            .handle_access(AccessNet::from_all(abi))
            .map_err(io::Error::other)?;
    }
    if !Scope::from_all(abi).is_empty() {
        rules = rules
            .scope(Scope::from_all(abi))
            .map_err(io::Error::other)?;
    }
    let mut rules = rules.create().map_err(io::Error::other)?;
    for rule in files {
        let place = match PathFd::new(&rule.path) {
            Ok(place) => place,
            Err(PathFdError::OpenCall { source, .. })
                if !rule.must_exist && is_missing(&source) =>
            {
                continue;
            }
            Err(PathFdError::OpenCall { source, .. }) => {
                let message = format!("cannot be opened: {}: {source}", rule.path.display());
                return Err(io::Error::new(source.kind(), message));
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let mut access = access(rule.right) & AccessFs::from_all(abi);
        if !rule.path.is_dir() {
            access &= AccessFs::from_file(abi);
        }
        rules = rules
            .add_rule(PathBeneath::new(place, access))
            .map_err(io::Error::other)?;
    }
    if !AccessNet::from_all(abi).is_empty() {
        for port in ports {
            rules = rules
                .add_rule(NetPort::new(*port, AccessNet::ConnectTcp))
                .map_err(io::Error::other)?;
        }
    }
    Ok(rules.into())
}

fn version(abi: u32) -> ABI {
    ABI::from(i32::try_from(abi.min(NEWEST)).unwrap_or(0))
}

/// A place of the system that is not there, or not for the engine either, needs no rule.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory
    )
}

fn access(right: Right) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    // No devices and no sockets can be made anywhere.
    let write = AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::MakeFifo
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer;
    match right {
        Right::Read => read,
        Right::Run => read | AccessFs::Execute,
        Right::Write => read | write,
        Right::WriteAndRun => read | write | AccessFs::Execute,
        Right::Device => AccessFs::ReadFile | AccessFs::WriteFile,
    }
}
