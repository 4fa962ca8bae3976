//! `wasi:sockets`: TCP to what is granted, and the names for it. UDP and listening are never granted.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures::FutureExt as _;
use hookgate_core::RefusalCode;
use hookgate_core::config::host_name;
use tokio::time::timeout;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource, ResourceType};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddress, IpAddressFamily};
use wasmtime_wasi::p2::bindings::sockets::{network, tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{
    DynPollable, Network, Pollable, SocketError, SocketResult, TcpSocket, UdpSocket, subscribe,
};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi::sockets::WasiSocketsView as _;

use super::reach::{NETWORK, Reach};
use crate::guest::Guest;
use crate::limits::MAX_ADDRESSES_PER_NAME;
use crate::resolver::Resolve;

/// The interface this file answers itself: wasmtime-wasi's resolves any name, and does it out of our sight.
const LOOKUP: &str = "wasi:sockets/ip-name-lookup@0.2.0";

/// The errors of the interfaces below.
impl network::Host for Guest {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.sockets().convert_error_code(error)
    }

    fn network_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.sockets().network_error_code(error)
    }
}

impl network::HostNetwork for Guest {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.sockets(), network)
    }
}

impl tcp_create_socket::Host for Guest {
    fn create_tcp_socket(&mut self, family: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        if !self.session.reach().may_open_sockets() {
            return Err(ErrorCode::AccessDenied.into());
        }
        self.sockets().create_tcp_socket(family)
    }
}

impl udp_create_socket::Host for Guest {
    async fn create_udp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        // Grants name hosts, and nothing could check a datagram's sender or receiver by name.
        let reach = self.session.reach();
        reach.refuse(NETWORK, RefusalCode::NotGranted);
        Err(ErrorCode::AccessDenied.into())
    }
}

/// The `resolve-address-stream` resource.
pub(crate) enum Lookup {
    Pending(AbortOnDropJoinHandle<Result<Vec<IpAddr>, ErrorCode>>),
    Ready(Result<std::vec::IntoIter<IpAddr>, ErrorCode>),
}

impl Lookup {
    fn settle(&mut self, found: Result<Vec<IpAddr>, ErrorCode>) {
        *self = Self::Ready(found.map(Vec::into_iter));
    }

    fn next(&mut self) -> Result<Option<IpAddr>, ErrorCode> {
        if let Self::Pending(task) = self {
            match task.now_or_never() {
                Some(found) => self.settle(found),
                None => return Err(ErrorCode::WouldBlock),
            }
        }
        match self {
            Self::Ready(Ok(found)) => Ok(found.next()),
            Self::Ready(Err(code)) => Err(*code),
            Self::Pending(_) => Err(ErrorCode::WouldBlock),
        }
    }
}

#[async_trait]
impl Pollable for Lookup {
    async fn ready(&mut self) {
        if let Self::Pending(task) = self {
            let found = task.await;
            self.settle(found);
        }
    }
}

/// Adds name look-up to a linker.
pub(crate) fn add_lookup(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    type Store<'a> = StoreContextMut<'a, Guest>;
    let mut interface = linker.instance(LOOKUP)?;
    interface.resource(
        "resolve-address-stream",
        ResourceType::host::<Lookup>(),
        |mut store: Store, rep| {
            let lookup = Resource::<Lookup>::new_own(rep);
            store.data_mut().table.delete(lookup)?;
            Ok(())
        },
    )?;
    interface.func_wrap(
        "resolve-addresses",
        |mut store: Store, (network, name): (Resource<Network>, String)| {
            let guest = store.data_mut();
            guest.table.get(&network)?;
            let started = start(&guest.session.resolver(), guest.session.reach(), &name);
            Ok((match started {
                Ok(lookup) => Ok(guest.table.push(lookup)?),
                Err(code) => Err(code),
            },))
        },
    )?;
    interface.func_wrap(
        "[method]resolve-address-stream.resolve-next-address",
        |mut store: Store, (lookup,): (Resource<Lookup>,)| {
            let next = store.data_mut().table.get_mut(&lookup)?.next();
            Ok((next.map(|address| address.map(IpAddress::from)),))
        },
    )?;
    interface.func_wrap(
        "[method]resolve-address-stream.subscribe",
        |mut store: Store, (lookup,): (Resource<Lookup>,)| {
            let pollable: Resource<DynPollable> = subscribe(&mut store.data_mut().table, lookup)?;
            Ok((pollable,))
        },
    )
}

/// Begins to look a name up. A refusal is told at once, and nobody is asked.
fn start(resolver: &Arc<dyn Resolve>, reach: &Arc<Reach>, name: &str) -> Result<Lookup, ErrorCode> {
    let refused = || {
        reach.refuse(NETWORK, RefusalCode::NotGranted);
        ErrorCode::AccessDenied
    };
    if !reach.in_call() {
        return Err(refused());
    }
    // An address is its own answer, where it is granted.
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = literal.parse::<IpAddr>() {
        if !reach.policy().knows_address(address) {
            return Err(refused());
        }
        return Ok(Lookup::Ready(Ok(vec![address].into_iter())));
    }
    let name = host_name(name).ok_or_else(refused)?;
    let ports = reach.policy().ports_of(&name);
    if ports.is_empty() {
        return Err(refused());
    }
    let (asked, reach) = (resolver.resolve(&name), Arc::clone(reach));
    Ok(Lookup::Pending(spawn(async move {
        let found = match timeout(reach.remaining(), asked).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Err(unresolved(&error)),
            Err(_) => return Err(ErrorCode::Timeout),
        };
        let found: Vec<_> = found.into_iter().take(MAX_ADDRESSES_PER_NAME).collect();
        if found.is_empty() {
            return Err(ErrorCode::NameUnresolvable);
        }
        let admitted = reach.admit(found, &ports);
        if admitted.is_empty() {
            return Err(ErrorCode::AccessDenied);
        }
        Ok(admitted)
    })))
}

fn unresolved(error: &io::Error) -> ErrorCode {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ErrorCode::TemporaryResolverFailure,
        _ => ErrorCode::NameUnresolvable,
    }
}
