//! [`Linkers`]: what a component may import.

use hookgate_core::LoadError;
use hookgate_core::config::Permissions;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::p2::bindings::{cli, filesystem, random, sockets};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView as _};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};

use crate::bindings;
use crate::grants::add_lookup;
use crate::guest::Guest;
use crate::imports::Imports;

/// The linkers of one engine.
pub(crate) struct Linkers {
    plain: Linker<Guest>,
    /// The same with `wasi:http`, for plugins that may connect to something. Toolchains import the rest of
    /// WASI unasked, so that is always there and refuses at run time; nobody imports HTTP by accident.
    http: Linker<Guest>,
}

impl Linkers {
    pub(crate) fn new(engine: &Engine) -> wasmtime::Result<Self> {
        let mut plain = Linker::new(engine);
        contract(&mut plain)?;
        wasi(&mut plain)?;
        let mut http = plain.clone();
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut http)?;
        Ok(Self { plain, http })
    }

    /// The linker for a plugin that imports and was granted this.
    pub(crate) fn of(
        &self,
        imports: &Imports,
        permissions: &Permissions,
    ) -> Result<&Linker<Guest>, LoadError> {
        imports.check(permissions)?;
        Ok(match permissions.network.is_empty() {
            true => &self.plain,
            false => &self.http,
        })
    }
}

fn contract(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    bindings::types::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    bindings::call::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    bindings::log::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)?;
    bindings::secrets::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)
}

/// The interfaces of `wasi:cli`'s world, one by one: files, new sockets and name look-up are answered by
/// [`crate::grants`]. All of them are the async bindings: the sync ones block the runtime's thread, which a
/// call shares with others.
fn wasi(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    // Streams, polling, clocks, random numbers, stdin, stdout and stderr.
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(linker)?;
    let l = linker;
    random::insecure::add_to_linker::<Guest, WasiRandom>(l, Guest::random)?;
    random::insecure_seed::add_to_linker::<Guest, WasiRandom>(l, Guest::random)?;
    cli::exit::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::environment::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;

    filesystem::types::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    filesystem::preopens::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;

    let options = sockets::network::LinkOptions::default();
    sockets::network::add_to_linker::<Guest, WasiSockets>(l, &options, Guest::sockets)?;
    sockets::instance_network::add_to_linker::<Guest, WasiSockets>(l, Guest::sockets)?;
    sockets::tcp::add_to_linker::<Guest, WasiSockets>(l, Guest::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    sockets::udp::add_to_linker::<Guest, WasiSockets>(l, Guest::sockets)?;
    sockets::udp_create_socket::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    add_lookup(l)
}
