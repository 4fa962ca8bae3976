//! [`Reach`]: what one instance may reach right now, and what it was refused.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hookgate_core::{RefusalCode, Refusals};
use wasmtime_wasi::sockets::SocketAddrUse;

use super::network::NetworkPolicy;

/// What records call a refused connection, look-up or request.
pub(crate) const NETWORK: &str = "network";
/// What records call a refused access to files.
pub(crate) const FILE: &str = "file";
/// What records call a refused write to the scratch folder.
pub(crate) const SCRATCH: &str = "scratch";

/// The part of an instance's state that its sockets, requests and streams share.
pub(crate) struct Reach {
    policy: Arc<NetworkPolicy>,
    /// Whether a call is under way. Before it, in the start function and in `init`, nothing outside may
    /// be changed: an instance may be made ahead of its call, or for none.
    in_call: AtomicBool,
    state: Mutex<State>,
}

struct State {
    refusals: Refusals,
    deadline: Instant,
    /// Addresses that granted names led to in this call, with the ports they may be used with.
    resolved: HashMap<IpAddr, Vec<u16>>,
}

impl Reach {
    pub(super) fn new(policy: Arc<NetworkPolicy>, deadline: Instant) -> Self {
        Self {
            policy,
            in_call: AtomicBool::new(false),
            state: Mutex::new(State {
                refusals: Refusals::default(),
                deadline,
                resolved: HashMap::new(),
            }),
        }
    }

    /// A call begins. What was refused before it belongs to it; what names led to before does not.
    pub(super) fn begin(&self, deadline: Instant) {
        let mut state = self.state();
        state.deadline = deadline;
        state.resolved.clear();
        self.in_call.store(true, Ordering::Release);
    }

    /// What was refused since this was last asked.
    pub(super) fn take_refusals(&self) -> Refusals {
        std::mem::take(&mut self.state().refusals)
    }

    /// Counts a refusal.
    pub(crate) fn refuse(&self, what: &'static str, code: RefusalCode) {
        self.state().refusals.note(what, code);
    }

    /// Whether things outside may be changed or talked to.
    pub(crate) fn in_call(&self) -> bool {
        self.in_call.load(Ordering::Acquire)
    }

    /// Time left in the call.
    pub(crate) fn remaining(&self) -> Duration {
        let deadline = self.state().deadline;
        deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn policy(&self) -> &NetworkPolicy {
        &self.policy
    }

    /// Whether this instance may have sockets at all now; counts it if not.
    pub(crate) fn may_open_sockets(&self) -> bool {
        let granted = self.in_call() && !self.policy.is_empty();
        if !granted {
            self.refuse(NETWORK, RefusalCode::NotGranted);
        }
        granted
    }

    /// The addresses among those of a granted name that may be connected to at one of `ports`. They are
    /// remembered; each that may not is counted.
    pub(crate) fn admit(&self, found: Vec<IpAddr>, ports: &[u16]) -> Vec<IpAddr> {
        let mut admitted = Vec::new();
        for address in found {
            let admits = |port: &&u16| self.policy.admits(SocketAddr::new(address, **port));
            let ports: Vec<u16> = ports.iter().filter(admits).copied().collect();
            if ports.is_empty() {
                self.refuse(NETWORK, RefusalCode::NotGranted);
                continue;
            }
            let mut state = self.state();
            let known = state.resolved.entry(address.to_canonical()).or_default();
            known.extend(ports);
            known.sort_unstable();
            known.dedup();
            admitted.push(address);
        }
        admitted
    }

    /// Whether a socket may be used so; counts it if not.
    pub(super) fn may_use(&self, address: SocketAddr, purpose: SocketAddrUse) -> bool {
        let granted = self.in_call()
            && match purpose {
                SocketAddrUse::TcpConnect => self.may_connect(address),
                // What every connection does first: any address, any port. It listens to nobody.
                SocketAddrUse::TcpBind => address.ip().is_unspecified() && address.port() == 0,
                _ => false,
            };
        if !granted {
            self.refuse(NETWORK, RefusalCode::NotGranted);
        }
        granted
    }

    fn may_connect(&self, to: SocketAddr) -> bool {
        let address = to.ip().to_canonical();
        let was_resolved = || {
            let state = self.state();
            let ports = state.resolved.get(&address);
            ports.is_some_and(|ports| ports.contains(&to.port()))
        };
        self.policy.grants_address(address, to.port()) || was_resolved()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
