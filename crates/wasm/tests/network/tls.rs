//! TLS: the granted name, and nobody who only says it is its.

use serde_json::json;

use crate::outside::net_client;
use crate::outside::servers::https;

const NAME: &str = "api.example.com";

#[tokio::test]
async fn the_granted_name_is_asked_for_and_checked() {
    let (server, authority) = https(NAME, "secret").await;
    let port = server.port();
    let plugin = net_client()
        .grant(NAME, port)
        .grant("127.0.0.1", port)
        .name(NAME, &[&["127.0.0.1"]])
        .trust(authority)
        .plugin()
        .await;
    let result = plugin
        .ask(json!({ "do": "get", "url": format!("https://{NAME}:{port}/") }))
        .await;
    assert_eq!(result["body"], json!("secret"), "{result}");
    let asked = server.asked();
    assert_eq!(asked[0], format!("sni {NAME}"));
    assert!(asked[1].contains(&format!("host: {NAME}:{port}")));
}

#[tokio::test]
async fn a_certificate_for_another_name() {
    let (server, authority) = https("other.example.com", "secret").await;
    let port = server.port();
    let plugin = net_client()
        .grant(NAME, port)
        .grant("127.0.0.1", port)
        .name(NAME, &[&["127.0.0.1"]])
        .trust(authority)
        .plugin()
        .await;
    // By name, and by an address that the certificate does not hold.
    for host in [NAME, "127.0.0.1"] {
        let order = json!({ "do": "get", "url": format!("https://{host}:{port}/") });
        assert_eq!(
            plugin.ask(order).await["error"],
            json!("TlsCertificateError"),
            "{host}"
        );
        plugin.answers().await;
    }
}

#[tokio::test]
async fn an_authority_nobody_trusts() {
    let (server, _) = https(NAME, "secret").await;
    let port = server.port();
    let plugin = net_client()
        .grant(NAME, port)
        .grant("127.0.0.1", port)
        .name(NAME, &[&["127.0.0.1"]])
        .plugin()
        .await;
    let order = json!({ "do": "get", "url": format!("https://{NAME}:{port}/") });
    assert_eq!(
        plugin.ask(order).await["error"],
        json!("TlsCertificateError")
    );
    plugin.answers().await;
    assert_eq!(
        server.asked(),
        [format!("sni {NAME}")],
        "no request was sent"
    );
}
