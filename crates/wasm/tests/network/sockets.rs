//! `wasi:sockets`.

use serde_json::json;

use crate::outside::servers::{http, http_at, ok};
use crate::outside::{net_client, refused, setup};

#[tokio::test]
async fn a_granted_address_and_port() {
    let server = http(|_| Some(b"hello".to_vec())).await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    let order =
        json!({ "do": "tcp", "addr": server.addr.to_string(), "send": "GET / HTTP/1.1\r\n\r\n" });
    assert_eq!(plugin.ask(order).await, json!({ "received": "hello" }));
    assert_eq!(plugin.records.refused(), json!([]));
    assert_eq!(server.asked(), ["GET / HTTP/1.1\r\n\r\n"]);
}

#[tokio::test]
async fn another_port_or_address() {
    let (server, other) = (http(|_| ok("")).await, http(|_| ok("")).await);
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    for addr in [
        other.addr.to_string(),
        format!("127.0.0.2:{}", server.port()),
        format!("[::1]:{}", server.port()),
        format!("0.0.0.0:{}", server.port()),
    ] {
        let order = json!({ "do": "tcp", "addr": addr });
        let result = plugin.ask(order).await;
        assert!(result["error"].is_string(), "{addr}: {result}");
        // An unspecified address is no destination, which wasmtime-wasi says before anybody is asked.
        if !addr.starts_with("0.") {
            let one = refused("network", "not-granted", 1);
            assert_eq!(plugin.records.refused(), one, "{addr}");
        }
        plugin.answers().await;
    }
    assert!(server.asked().is_empty() && other.asked().is_empty());
}

#[tokio::test]
async fn a_range() {
    let server = http_at("127.0.0.9", 0, |_| Some(b"in it".to_vec())).await;
    let plugin = net_client()
        .grant("127.0.0.8/29", server.port())
        .plugin()
        .await;
    let order = |addr: String| json!({ "do": "tcp", "addr": addr, "send": "x\r\n\r\n" });
    let inside = plugin.ask(order(server.addr.to_string())).await;
    assert_eq!(inside, json!({ "received": "in it" }));
    plugin
        .refuses(order(format!("127.0.0.16:{}", server.port())), 1)
        .await;
}

#[tokio::test]
async fn a_name_that_leads_to_loopback() {
    let server = http(|_| ok("")).await;
    let plugin = net_client()
        .grant("api.example.com", server.port())
        .name("api.example.com", &[&["127.0.0.1"]])
        .plugin()
        .await;
    let addr = format!("api.example.com:{}", server.port());
    plugin
        .refuses(json!({ "do": "tcp", "addr": addr }), 1)
        .await;
    assert_eq!(plugin.names.asked(), ["api.example.com"]);
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_granted_as_such() {
    let server = http(|_| Some(b"hello".to_vec())).await;
    let plugin = net_client()
        .grant("api.example.com", server.port())
        .grant("127.0.0.1", server.port())
        .name("api.example.com", &[&["127.0.0.1"]])
        .plugin()
        .await;
    let addr = format!("API.example.com:{}", server.port());
    let order = json!({ "do": "tcp", "addr": addr, "send": "x\r\n\r\n" });
    assert_eq!(plugin.ask(order).await, json!({ "received": "hello" }));
    assert_eq!(plugin.names.asked(), ["api.example.com"]);
}

/// Addresses that may be used are given, the rest are counted.
#[tokio::test]
async fn a_name_that_leads_to_both() {
    let good = http_at("127.0.0.2", 0, |_| Some(b"good".to_vec())).await;
    let bad = http_at("127.0.0.1", good.port(), |_| ok("")).await;
    let plugin = net_client()
        .grant("api.example.com", good.port())
        .grant("127.0.0.2", good.port())
        .name(
            "api.example.com",
            &[&["127.0.0.1", "127.0.0.2", "10.0.0.1", "1.1.1.1"]],
        )
        .plugin()
        .await;
    let found = plugin
        .ask(json!({ "do": "lookup", "name": "api.example.com" }))
        .await;
    assert_eq!(found, json!({ "addresses": ["127.0.0.2", "1.1.1.1"] }));
    assert_eq!(
        plugin.records.refused(),
        refused("network", "not-granted", 2)
    );
    let order = json!({
        "do": "lookup-then-tcp", "name": "api.example.com", "port": good.port().to_string(),
        "send": "x\r\n\r\n"
    });
    assert_eq!(plugin.ask(order).await["received"], json!("good"));
    assert!(bad.asked().is_empty());
}

/// What a name led to in one call says nothing in the next, and an answer is used, not asked for again.
#[tokio::test]
async fn a_name_that_changes_its_mind() {
    let good = http_at("127.0.0.2", 0, |_| Some(b"good".to_vec())).await;
    let bad = http_at("127.0.0.1", good.port(), |_| ok("")).await;
    let plugin = net_client()
        .grant("api.example.com", good.port())
        .grant("127.0.0.2", good.port())
        .name("api.example.com", &[&["127.0.0.2"], &["127.0.0.1"]])
        .plugin()
        .await;
    let order = json!({
        "do": "tcp", "addr": format!("api.example.com:{}", good.port()), "send": "x\r\n\r\n"
    });
    assert_eq!(plugin.ask(order.clone()).await["received"], json!("good"));
    assert_eq!(plugin.names.asked().len(), 1);
    plugin.refuses(order, 1).await;
    assert!(bad.asked().is_empty());
}

#[tokio::test]
async fn look_ups_of_what_is_not_granted_ask_nobody() {
    let plugin = net_client()
        .grant("*.example.com", 443)
        .grant("api.example.org", 443)
        .name("example.com", &[&["1.1.1.1"]])
        .plugin()
        .await;
    for name in [
        "example.com",
        "evilexample.com",
        "a.example.com.evil.org",
        "x.api.example.org",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
    ] {
        plugin
            .refuses(json!({ "do": "lookup", "name": name }), 1)
            .await;
    }
    assert!(plugin.names.asked().is_empty());
}

#[tokio::test]
async fn names_below_a_star() {
    let plugin = net_client()
        .grant("*.example.com", 443)
        .name("a.example.com", &[&["1.1.1.1"]])
        .name("a.b.example.com", &[&["2606:4700:4700::1111"]])
        .plugin()
        .await;
    for (name, address) in [
        ("a.example.com", "1.1.1.1"),
        ("a.b.example.com", "2606:4700:4700::1111"),
    ] {
        let found = plugin.ask(json!({ "do": "lookup", "name": name })).await;
        assert_eq!(found, json!({ "addresses": [address] }));
    }
}

#[tokio::test]
async fn a_name_nobody_knows_is_no_refusal() {
    let plugin = net_client().grant("gone.example.com", 443).plugin().await;
    let order = json!({ "do": "lookup", "name": "gone.example.com" });
    assert!(plugin.ask(order).await["error"].is_string());
    assert_eq!(plugin.records.refused(), json!([]));
}

#[tokio::test]
async fn udp_and_listening_whatever_is_granted() {
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port on loopback");
    let port = receiver.local_addr().expect("it has an address").port();
    let plugin = net_client()
        .grant("127.0.0.0/8", port)
        .grant("0.0.0.0/0", port)
        .plugin()
        .await;
    let addr = format!("127.0.0.1:{port}");
    plugin
        .refuses(json!({ "do": "udp", "addr": addr }), 1)
        .await;
    receiver.set_nonblocking(true).expect("it can be asked");
    assert!(receiver.recv(&mut [0; 16]).is_err(), "nothing arrived");
    for addr in ["127.0.0.1:0", "0.0.0.0:0"] {
        plugin
            .refuses(json!({ "do": "listen", "addr": addr }), 1)
            .await;
    }
}

/// Another guest, which imports no HTTP and so loads without a grant.
#[tokio::test]
async fn nothing_granted() {
    let server = http(|_| ok("")).await;
    let plugin = setup("hostile").plugin().await;
    let order = json!({ "do": "connect", "addr": server.addr.to_string() });
    let outcome = plugin.invoke(order).await;
    assert!(crate::outside::mark(&outcome, "error").is_string());
    assert_eq!(
        plugin.records.refused(),
        refused("network", "not-granted", 1)
    );
    assert!(server.asked().is_empty());
    plugin.answers().await;
}
