//! `wasi:http`.

use std::time::Duration;

use hookgate_core::FaultKind;
use hookgate_wasm::{MAX_HTTP_REQUESTS, MAX_HTTP_RESPONSE_BYTES};
use serde_json::{Value, json};

use crate::outside::servers::{http, http_at, ok, redirect};
use crate::outside::{net_client, setup};

fn get(url: impl Into<String>) -> Value {
    json!({ "do": "get", "url": url.into() })
}

#[tokio::test]
async fn a_granted_name() {
    let server = http(|_| ok("hello")).await;
    let port = server.port();
    let plugin = net_client()
        .grant("api.example.com", port)
        .grant("127.0.0.1", port)
        .name("api.example.com", &[&["127.0.0.1"]])
        .plugin()
        .await;
    let mut order = get(format!("http://API.example.com:{port}/a?b=c"));
    order["header"] = json!("x-mine: 1");
    let result = plugin.ask(order).await;
    assert_eq!(
        (&result["status"], &result["body"]),
        (&json!(200), &json!("hello"))
    );
    assert_eq!(plugin.records.refused(), json!([]));
    let asked = server.asked();
    let lines: Vec<_> = asked[0].lines().collect();
    assert_eq!(lines[0], "GET /a?b=c HTTP/1.1");
    assert!(
        lines.contains(&format!("host: api.example.com:{port}").as_str()),
        "{lines:?}"
    );
    assert!(lines.contains(&"x-mine: 1"), "{lines:?}");
    assert_eq!(plugin.names.asked(), ["api.example.com"]);
}

#[tokio::test]
async fn a_body() {
    let server = http(|_| ok("taken")).await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    let mut order = get(format!("http://{}/", server.addr));
    (order["method"], order["body"]) = (json!("POST"), json!("sent"));
    assert_eq!(plugin.ask(order).await["body"], json!("taken"));
    assert!(server.asked()[0].starts_with("POST / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn what_is_not_granted() {
    let (server, other) = (http(|_| ok("")).await, http(|_| ok("")).await);
    let (port, closed) = (server.port(), other.port());
    let plugin = net_client()
        .grant("api.example.com", port)
        .grant("*.example.org", port)
        .grant("127.0.0.3", port)
        .name("api.example.com", &[&["127.0.0.3"]])
        .plugin()
        .await;
    for url in [
        // Another host, another port, the scheme's own port.
        format!("http://www.example.com:{port}/"),
        format!("http://example.org:{port}/"),
        format!("http://api.example.com:{closed}/"),
        "http://api.example.com/".to_owned(),
        "https://api.example.com/".to_owned(),
        // By address, in several spellings.
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
    ] {
        let error = plugin.refuses(get(url.clone()), 1).await;
        assert_eq!(error, json!("HttpRequestDenied"), "{url}");
    }
    for url in [
        format!("http://api.example.com@127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
    ] {
        let error = plugin.ask(get(url.clone())).await["error"].clone();
        assert!(
            error == json!("HttpRequestUriInvalid") || error == json!("authority"),
            "{url}: {error}"
        );
        plugin.answers().await;
    }
    assert!(server.asked().is_empty() && other.asked().is_empty());
    assert!(plugin.names.asked().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_to_loopback() {
    let server = http(|_| ok("")).await;
    let plugin = net_client()
        .grant("api.example.com", server.port())
        .name(
            "api.example.com",
            &[&["127.0.0.1", "::1", "169.254.169.254"]],
        )
        .plugin()
        .await;
    let url = format!("http://api.example.com:{}/", server.port());
    let error = plugin.refuses(get(url), 3).await;
    assert_eq!(error, json!("HttpRequestDenied"));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_to_both_and_then_changes_its_mind() {
    let good = http_at("127.0.0.2", 0, |_| ok("good")).await;
    let bad = http_at("127.0.0.1", good.port(), |_| ok("bad")).await;
    let plugin = net_client()
        .grant("api.example.com", good.port())
        .grant("127.0.0.2", good.port())
        .name(
            "api.example.com",
            &[&["127.0.0.1", "127.0.0.2"], &["127.0.0.1"]],
        )
        .plugin()
        .await;
    let url = format!("http://api.example.com:{}/", good.port());
    assert_eq!(plugin.ask(get(url.clone())).await["body"], json!("good"));
    assert_eq!(plugin.records.refused()[0]["count"], json!(1));
    assert_eq!(plugin.names.asked().len(), 1, "one look-up a request");
    plugin.refuses(get(url), 1).await;
    assert!(bad.asked().is_empty());
}

#[tokio::test]
async fn a_redirect_is_a_request_like_any_other() {
    let inner = http(|_| ok("inner")).await;
    let away = format!("http://localhost:{}/secret", inner.port());
    let server = http(move |head| match head.starts_with("GET /away") {
        true => redirect(&away),
        false if head.starts_with("GET /here") => redirect("http://api.example.com:9/there"),
        false => ok("there"),
    })
    .await;
    let port = server.port();
    let plugin = net_client()
        .grant("127.0.0.1", port)
        .name("localhost", &[&["127.0.0.1"]])
        .plugin()
        .await;
    let mut order = get(format!("http://127.0.0.1:{port}/away"));
    // Nobody follows it for the guest.
    assert_eq!(plugin.ask(order.clone()).await["status"], json!(302));
    order["follow"] = json!("3");
    assert_eq!(plugin.refuses(order, 1).await, json!("HttpRequestDenied"));
    assert!(inner.asked().is_empty());
    let mut order = get(format!("http://127.0.0.1:{port}/here"));
    order["follow"] = json!("3");
    assert_eq!(plugin.refuses(order, 1).await, json!("HttpRequestDenied"));
}

#[tokio::test]
async fn headers_of_the_connection_cannot_be_forged() {
    let server = http(|_| ok("")).await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    for header in [
        "host: evil.example",
        "Host: evil.example",
        "connection: upgrade",
        "transfer-encoding: chunked",
        "proxy-authorization: Basic x",
        "te: trailers",
        "trailer: x",
        "upgrade: h2c",
        "x-a: 1\r\nhost: evil.example",
    ] {
        let mut order = get(format!("http://{}/", server.addr));
        order["header"] = json!(header);
        let error = plugin.ask(order).await["error"].clone();
        let text = error.as_str().unwrap_or_default();
        assert!(text.starts_with("header: "), "{header:?}: {error}");
        plugin.answers().await;
    }
    let mut order = get(format!("http://{}/", server.addr));
    order["method"] = json!("CONNECT");
    assert_eq!(
        plugin.ask(order).await["error"],
        json!("HttpRequestMethodInvalid")
    );
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_response_has_a_size() {
    let most = usize::try_from(MAX_HTTP_RESPONSE_BYTES).expect("64 bits");
    let server = http(move |head| {
        let (length, body) = match head {
            head if head.starts_with("GET /whole") => (Some(most), most),
            head if head.starts_with("GET /said") => (Some(most + 1), 0),
            _ => (None, most + 1),
        };
        let length = length.map_or(String::new(), |length| {
            format!("content-length: {length}\r\n")
        });
        let mut answer =
            format!("HTTP/1.1 200 OK\r\n{length}connection: close\r\n\r\n").into_bytes();
        answer.resize(answer.len() + body, b'x');
        Some(answer)
    })
    .await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    let url = |path: &str| get(format!("http://{}/{path}", server.addr));
    assert_eq!(plugin.ask(url("whole")).await["bytes"], json!(most));
    for (path, expected) in [
        ("said", "HttpResponseBodySize"),
        (
            "unsaid",
            "HTTP response body size exceeds limit: 10000000 bytes",
        ),
    ] {
        let error = plugin.ask(url(path)).await["error"].clone();
        assert_eq!(error, json!(expected), "{path}");
        plugin.answers().await;
    }
}

#[tokio::test]
async fn a_head_has_a_size() {
    let server = http(|_| {
        let filler = "x".repeat(1 << 20);
        Some(format!("HTTP/1.1 200 OK\r\nx-big: {filler}\r\n\r\n").into_bytes())
    })
    .await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    let result = plugin.ask(get(format!("http://{}/", server.addr))).await;
    assert_eq!(result["error"], json!("HttpResponseHeaderSectionSize"));
    plugin.answers().await;
}

#[tokio::test]
async fn a_peer_that_says_nothing() {
    let silent = http(|_| None).await;
    let plugin = net_client()
        .grant("127.0.0.1", silent.port())
        .with(|spec| spec.limits.timeout = Duration::from_secs(3))
        .plugin()
        .await;
    let url = format!("http://{}/", silent.addr);
    let mut order = get(url.clone());
    order["first_byte_ms"] = json!("50");
    assert_eq!(
        plugin.ask(order).await["error"],
        json!("ConnectionReadTimeout")
    );
    // The guest asks for more than the call has.
    let mut order = get(url);
    order["first_byte_ms"] = json!("600000");
    let outcome = plugin.invoke(order).await;
    // In the host call, or in the guest if it was told of the call's own end just in time.
    assert_eq!(outcome.faults[0].kind, FaultKind::Timeout);
    plugin.answers().await;
}

#[tokio::test]
async fn a_peer_that_stops() {
    let server =
        http(|_| Some(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort".to_vec())).await;
    let plugin = net_client()
        .grant("127.0.0.1", server.port())
        .plugin()
        .await;
    let result = plugin.ask(get(format!("http://{}/", server.addr))).await;
    assert_eq!(result["error"], json!("connection terminated"));
    plugin.answers().await;
}

#[tokio::test]
async fn requests_under_way_have_a_number() {
    let silent = http(|_| None).await;
    let plugin = net_client()
        .grant("127.0.0.1", silent.port())
        .plugin()
        .await;
    let order = json!({
        "do": "get-many", "url": format!("http://{}/", silent.addr), "first_byte_ms": "50",
        "count": (MAX_HTTP_REQUESTS + 3).to_string(),
    });
    let errors = plugin.ask(order).await["errors"].clone();
    let count = |name: &str| {
        errors
            .as_array()
            .into_iter()
            .flatten()
            .filter(|e| *e == name)
            .count()
    };
    assert_eq!(count("ConnectionLimitReached"), 3, "{errors}");
    assert_eq!(
        count("ConnectionReadTimeout"),
        MAX_HTTP_REQUESTS,
        "{errors}"
    );
    plugin.answers().await;
}

#[tokio::test]
async fn the_import_needs_the_grant() {
    let report = setup("net-client")
        .load()
        .await
        .err()
        .expect("it is refused");
    let text = report.to_string();
    for part in [
        "the component imports wasi:http/",
        "which needs a grant: permissions.network",
        "permissions: {network: [{host: api.example.com, port: 443}]}",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
