//! Words about sockets:
//!
//! - `tcp`: connects to `addr` (`host:port`), sends `send`, tells what is `received` until the end
//! - `lookup`: tells the `addresses` of `name`
//! - `lookup-then-tcp`: looks `name` up and connects to the first address, port `port`, as a client that
//!   resolves by itself does
//! - `udp`: sends a datagram to `addr`
//! - `listen`: listens at `addr`

use std::io::{Read as _, Result, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use serde_json::{Value, json};

use crate::{Answer, Order, outcome};

pub fn answer(word: &str, order: &Order) -> Answer {
    let result = match word {
        "tcp" => tcp(&order.need("addr"), &order.text("send").unwrap_or_default()),
        "lookup" => lookup(&order.need("name")),
        "lookup-then-tcp" => lookup_then_tcp(order),
        "udp" => udp(&order.need("addr")),
        "listen" => TcpListener::bind(order.need("addr")).map(|_| json!({ "listening": true })),
        _ => return None,
    };
    Some(Ok(outcome(result)))
}

fn tcp(addr: &str, send: &str) -> Result<Value> {
    talk(TcpStream::connect(addr)?, send)
}

fn talk(mut stream: TcpStream, send: &str) -> Result<Value> {
    stream.write_all(send.as_bytes())?;
    let mut received = String::new();
    stream.read_to_string(&mut received)?;
    Ok(json!({ "received": received }))
}

fn lookup(name: &str) -> Result<Value> {
    let found = (name, 0).to_socket_addrs()?;
    let addresses: Vec<_> = found.map(|addr| addr.ip().to_string()).collect();
    Ok(json!({ "addresses": addresses }))
}

fn lookup_then_tcp(order: &Order) -> Result<Value> {
    let name = order.need("name");
    let found = (name.as_str(), 0).to_socket_addrs()?.next();
    let address = found
        .expect("a look-up that succeeds gives an address")
        .ip();
    let port = u16::try_from(order.number("port").unwrap_or_default()).expect("a port");
    let send = order.text("send").unwrap_or_default();
    talk(TcpStream::connect(SocketAddr::new(address, port))?, &send)
}

fn udp(addr: &str) -> Result<Value> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.send_to(b"datagram", addr)?;
    Ok(json!({ "sent": true }))
}
