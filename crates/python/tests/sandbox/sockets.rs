//! Sockets: none without a grant, with one TCP to its port.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use hookgate_core::config::{HostPattern, NetworkGrant};
use serde_json::json;

use crate::{load, spec};

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

/// Nobody has come: the call that would have connected is over.
fn nobody_came(listener: &TcpListener) {
    listener.set_nonblocking(true).expect("a flag");
    let error = listener.accept().expect_err("nobody was let through");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_grant_there_are_no_sockets() {
    let (tcp, port) = listener();
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    udp.set_nonblocking(true).expect("a flag");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let unix = UnixListener::bind(&path).expect("a socket");
    let abstract_name = format!("hookgate-{}", port);
    let name = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
    let unnamed = UnixListener::bind_addr(&name).expect("a socket");

    let plugin = load(spec("sockets.Sockets")).await;
    let tried = plugin
        .tries(json!({
            "do": "every", "port": port, "udp_port": udp.local_addr().expect("an address").port(),
            "path": path, "abstract": abstract_name,
        }))
        .await;
    assert_eq!(
        tried,
        json!({
            "tcp": "EPERM",
            "tcp6": "EPERM",
            "udp": "EPERM",
            "unix": "EPERM",
            "unix_datagram": "EPERM",
            "abstract": "EPERM",
            "netlink": "EPERM",
            "packet": "EPERM",
            "raw": "EPERM",
            "vsock": "EPERM",
            // Event loops wake themselves with one.
            "pair": "x",
            "pair_datagram": "EPERM",
            "pair_elsewhere": "EPERM",
            "pair_connects": "EPERM",
        })
    );
    nobody_came(&tcp);
    for listener in [unix, unnamed] {
        listener.set_nonblocking(true).expect("a flag");
        assert_eq!(
            listener.accept().expect_err("nobody").kind(),
            ErrorKind::WouldBlock
        );
    }
    let received = udp.recv(&mut [0]).expect_err("nothing was let through");
    assert_eq!(received.kind(), ErrorKind::WouldBlock);
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_opens_its_port_and_no_other() {
    let (granted, port) = listener();
    let (other, other_port) = listener();
    let mut spec = spec("sockets.Sockets");
    spec.permissions.network = vec![NetworkGrant {
        host: HostPattern::parse("127.0.0.1").expect("an address"),
        port,
    }];
    let server = std::thread::spawn(move || {
        let (mut caller, _) = granted.accept().expect("a caller");
        let mut asked = [0; 4];
        caller.read_exact(&mut asked).expect("a question");
        caller.write_all(b"pong").expect("an answer");
        asked
    });

    let plugin = load(spec).await;
    let tried = plugin
        .tries(json!({"do": "granted", "port": port, "other": other_port}))
        .await;
    assert_eq!(
        tried,
        json!({
            "granted": "pong",
            "other": "EACCES",
            "multipath": "EPERM",
            "fast_open": "EPERM",
            "bind": "EPERM",
            "bind_datagram": "EPERM",
            "listen": "EPERM",
            "resolved": port,
        })
    );
    assert_eq!(&server.join().expect("it ends"), b"ping");
    nobody_came(&other);
    let note = format!(
        "not enforced: the host names of `network`, and UDP; TCP connects to any host at port {port}, UDP to any port"
    );
    assert!(
        plugin.info().notes.contains(&note),
        "{:?}",
        plugin.info().notes
    );

    // Of the other kinds a grant opens none.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let _unix = UnixListener::bind(&path).expect("a socket");
    let tried = plugin
        .tries(json!({"do": "every", "port": other_port, "udp_port": 9, "path": path, "abstract": "hookgate"}))
        .await;
    for (kind, became) in [
        ("tcp", "EACCES"),
        ("udp", "ok"),
        ("unix", "EPERM"),
        ("unix_datagram", "EPERM"),
        ("abstract", "EPERM"),
        ("netlink", "EPERM"),
        ("packet", "EPERM"),
        ("raw", "EPERM"),
        ("vsock", "EPERM"),
        ("pair_datagram", "EPERM"),
        ("pair_elsewhere", "EPERM"),
    ] {
        assert_eq!(tried[kind], json!(became), "{kind}");
    }
    plugin.still_answers().await;
}
