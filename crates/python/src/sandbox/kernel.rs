//! [`Kernel`]: what this system can enforce.

/// The parts a sandbox is made of, as the kernel has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    /// The version of Landlock; 0 without it.
    pub(super) landlock: u32,
    pub(super) seccomp: bool,
}

/// From this version on a rule covers cutting a file short: before, what cannot be written could be emptied.
pub(super) const FILES_ABI: u32 = 3;
/// From this version on there are rules for TCP ports.
pub(super) const TCP_ABI: u32 = 4;
/// From this version on signals and abstract Unix sockets end at the sandbox.
pub(super) const SCOPES_ABI: u32 = 6;

impl Kernel {
    /// This one.
    #[cfg(target_os = "linux")]
    pub(super) fn running() -> Self {
        Self {
            landlock: super::syscalls::landlock_abi(),
            // The filter's tables are written for these two.
            seccomp: cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
                && super::syscalls::has_seccomp(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn running() -> Self {
        Self {
            landlock: 0,
            seccomp: false,
        }
    }

    /// What is enforced, in a few words.
    pub(super) fn words(self) -> String {
        let mut parts = Vec::new();
        if self.landlock > 0 {
            let mut kinds = vec!["files"];
            if self.landlock >= TCP_ABI {
                kinds.push("tcp");
            }
            if self.landlock >= SCOPES_ABI {
                kinds.push("scopes");
            }
            parts.push(format!(
                "landlock abi {}: {}",
                self.landlock,
                kinds.join(", ")
            ));
        }
        if self.seccomp {
            parts.push("seccomp".to_owned());
        }
        parts.join("; ")
    }

    /// Why it cannot give what `strict` promises to a plugin with these grants.
    pub(super) fn shortfall(self, network: bool, processes: bool) -> Option<String> {
        let too_old = |needed: u32, what: &str| {
            let found = match self.landlock {
                0 => "it has no landlock".to_owned(),
                abi => format!("its landlock is of abi {abi}"),
            };
            format!("{found}, {what} needs abi {needed}")
        };
        if self.landlock < FILES_ABI {
            return Some(too_old(FILES_ABI, "the rules for files"));
        }
        if network && self.landlock < TCP_ABI {
            return Some(too_old(TCP_ABI, "a port of `network`"));
        }
        if processes && self.landlock < SCOPES_ABI {
            return Some(too_old(
                SCOPES_ABI,
                "keeping signals of `processes` from others",
            ));
        }
        (!self.seccomp).then(|| "it has no seccomp filters".to_owned())
    }
}
