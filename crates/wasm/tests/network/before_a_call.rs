//! `init` depends on the config alone: it reaches nobody, whatever is granted.

use serde_json::{Value, json};

use crate::outside::servers::{http, ok};
use crate::outside::{net_client, refused};

/// `init` tries, the call is told what came of it and may do the same itself.
async fn only_in_a_call(order: impl Fn(&str, u16) -> Value, counted: u32) {
    let server = http(|_| ok("hello")).await;
    let (addr, port) = (server.addr.to_string(), server.port());
    let order = order(&addr, port);
    let plugin = net_client()
        .grant("127.0.0.1", port)
        .grant("api.example.com", port)
        .name("api.example.com", &[&["127.0.0.1"]])
        .init(order.clone())
        .plugin()
        .await;
    let told = plugin.init().await;
    assert!(told["error"].is_string(), "{told}");
    assert_eq!(
        plugin.records.refused(),
        refused("network", "not-granted", counted)
    );
    assert!(server.asked().is_empty(), "{:?}", server.asked());
    assert!(plugin.names.asked().is_empty());
    let result = plugin.ask(order).await;
    assert!(result["error"].is_null(), "{result}");
}

#[tokio::test]
async fn sockets() {
    only_in_a_call(
        |addr, _| json!({ "do": "tcp", "addr": addr, "send": "GET / HTTP/1.1\r\n\r\n" }),
        1,
    )
    .await;
}

#[tokio::test]
async fn look_ups() {
    only_in_a_call(
        |_, _| json!({ "do": "lookup", "name": "api.example.com" }),
        1,
    )
    .await;
}

#[tokio::test]
async fn requests() {
    only_in_a_call(
        |_, port| json!({ "do": "get", "url": format!("http://api.example.com:{port}/") }),
        1,
    )
    .await;
}
