//! Words about HTTP:
//!
//! - `get`: asks for `url`; `method`, `header` (`name: value`), `body`, `follow` (how many redirects),
//!   `connect_ms`, `first_byte_ms` and `between_ms` are optional. Tells `status`, `location`, `bytes`, and
//!   `body` where it is short; or `error`, the code's name. `urls` lists where it went.
//! - `get-many`: begins `count` requests for `url` before it looks at one; tells the `errors`

use serde_json::{Value, json};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method,
    OutgoingBody, OutgoingRequest, RequestOptions, Scheme, http_error_code,
};
use wasip2::io::streams::StreamError;

use crate::{Answer, Order};

/// A body up to this long is told as text.
const SHORT_BYTES: usize = 1 << 10;

pub fn answer(word: &str, order: &Order) -> Answer {
    Some(Ok(match word {
        "get" => get(order),
        "get-many" => get_many(order),
        _ => return None,
    }))
}

fn get(order: &Order) -> Value {
    let mut url = order.need("url");
    let mut urls = vec![url.clone()];
    let mut follow = order.number("follow").unwrap_or_default();
    loop {
        let mut result = match fetch(order, &url) {
            Ok(response) => response,
            Err(error) => json!({ "error": error }),
        };
        match result["location"].as_str() {
            Some(location) if follow > 0 => {
                follow -= 1;
                url = location.to_owned();
                urls.push(url.clone());
            }
            _ => {
                result["urls"] = json!(urls);
                return result;
            }
        }
    }
}

fn get_many(order: &Order) -> Value {
    let count = order.number("count").unwrap_or_default();
    let mut held = Vec::new();
    let mut errors = Vec::new();
    for _ in 0..count {
        match begin(order, &order.need("url")) {
            Ok(future) => held.push(future),
            Err(error) => errors.push(error),
        }
    }
    for future in &held {
        if let Err(error) = wait(future) {
            errors.push(error);
        }
    }
    json!({ "errors": errors })
}

/// The name of a code, such as `HttpRequestDenied`.
fn name(code: &ErrorCode) -> String {
    let text = format!("{code:?}");
    let end = text.find(|c: char| !c.is_alphanumeric() && c != ':' && c != '_');
    let path = &text[..end.unwrap_or(text.len())];
    path.rsplit("::").next().unwrap_or(path).to_owned()
}

fn begin(order: &Order, url: &str) -> Result<FutureIncomingResponse, String> {
    let fields = Fields::new();
    if let Some(header) = order.text("header") {
        let (name, value) = header.split_once(": ").expect("name: value");
        fields
            .append(name, value.as_bytes())
            .map_err(|error| format!("header: {error:?}"))?;
    }
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let request = OutgoingRequest::new(fields);
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let method = match order.text("method") {
        None => Method::Get,
        Some(method) if method == "POST" => Method::Post,
        Some(method) if method == "CONNECT" => Method::Connect,
        Some(method) => Method::Other(method),
    };
    request.set_method(&method).map_err(|()| "method")?;
    request.set_scheme(Some(&scheme)).map_err(|()| "scheme")?;
    request
        .set_authority(Some(authority))
        .map_err(|()| "authority")?;
    request
        .set_path_with_query(Some(path))
        .map_err(|()| "path")?;
    let options = RequestOptions::new();
    let nanoseconds = |name| order.number(name).map(|ms| ms * 1_000_000);
    options
        .set_connect_timeout(nanoseconds("connect_ms"))
        .map_err(|()| "option")?;
    options
        .set_first_byte_timeout(nanoseconds("first_byte_ms"))
        .map_err(|()| "option")?;
    options
        .set_between_bytes_timeout(nanoseconds("between_ms"))
        .map_err(|()| "option")?;
    let body = order
        .text("body")
        .map(|text| (text, request.body().expect("asked for once")));
    let future = handle(request, Some(options)).map_err(|code| name(&code))?;
    if let Some((text, body)) = body {
        let stream = body.write().expect("asked for once");
        // A request that is refused has nobody to take its body.
        drop(stream.blocking_write_and_flush(text.as_bytes()));
        drop(stream);
        drop(OutgoingBody::finish(body, None));
    }
    Ok(future)
}

fn wait(future: &FutureIncomingResponse) -> Result<IncomingResponse, String> {
    future.subscribe().block();
    match future.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(code))) => Err(name(&code)),
        other => Err(format!("{other:?}")),
    }
}

fn fetch(order: &Order, url: &str) -> Result<Value, String> {
    let response = wait(&begin(order, url)?)?;
    let headers = response.headers().entries();
    let location = headers
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("location"))
        .map(|(_, value)| String::from_utf8_lossy(&value).into_owned());
    let status = response.status();
    let body = response.consume().expect("asked for once");
    let bytes = read(&body)?;
    let text = (bytes.len() <= SHORT_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned());
    Ok(json!({ "status": status, "location": location, "bytes": bytes.len(), "body": text }))
}

fn read(body: &IncomingBody) -> Result<Vec<u8>, String> {
    let stream = body.stream().expect("asked for once");
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(64 << 10) {
            Ok(more) => bytes.extend(more),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(error)) => {
                let code = http_error_code(&error);
                // Some errors of a body have no code; the first line says what they are.
                let text = || {
                    error
                        .to_debug_string()
                        .lines()
                        .next()
                        .unwrap_or_default()
                        .to_owned()
                };
                return Err(code.map_or_else(text, |code| name(&code)));
            }
        }
    }
}
