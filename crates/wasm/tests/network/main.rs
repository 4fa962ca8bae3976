//! Connections go to what was granted and nowhere else, however a guest asks.

#[path = "../outside/mod.rs"]
mod outside;

mod before_a_call;
mod requests;
mod sockets;
mod tls;
