//! `wasi:http`: requests to what is granted. Each is checked by itself, so a redirect that a guest follows
//! is checked as the request it is.

mod body;
mod send;
mod tls;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use futures::future::ready;
use hookgate_core::RefusalCode;
use hookgate_core::config::host_name;
use hyper::http::uri::Scheme;
use hyper::http::{HeaderName, Method, Uri, header};
use tokio::sync::Semaphore;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody,
    WasiHttpHooks,
};

use super::outside::Outside;
use super::reach::{NETWORK, Reach};
use crate::limits::MAX_HTTP_REQUESTS;
pub(crate) use tls::Tls;

type Request = hyper::Request<WasiBody>;
type Response = hyper::Response<WasiBody>;
/// What keeps a connection going while its response is read.
type Driver = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    host: Host,
    port: u16,
    tls: bool,
    /// The `host` header.
    header: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

/// The requests of one instance.
pub(crate) struct HttpHooks {
    outside: Arc<Outside>,
    reach: Arc<Reach>,
    /// One permit a request under way.
    requests: Arc<Semaphore>,
}

impl HttpHooks {
    pub(super) fn new(outside: Arc<Outside>, reach: Arc<Reach>) -> Self {
        Self {
            outside,
            reach,
            requests: Arc::new(Semaphore::new(MAX_HTTP_REQUESTS)),
        }
    }

    /// Where the request goes, if that is granted.
    fn admit(&self, request: &Request) -> Result<Target, Error> {
        let target = target(request.method(), request.uri())?;
        let policy = self.reach.policy();
        let granted = self.reach.in_call()
            && match &target.host {
                Host::Name(name) => policy.ports_of(name).contains(&target.port),
                Host::Address(address) => policy.grants_address(*address, target.port),
            };
        if granted {
            return Ok(target);
        }
        self.reach.refuse(NETWORK, RefusalCode::NotGranted);
        Err(Error::HttpRequestDenied)
    }
}

/// Reads where a request goes. What two readers could take for two hosts is no target.
fn target(method: &Method, uri: &Uri) -> Result<Target, Error> {
    // It asks a proxy for a way to anywhere.
    if *method == Method::CONNECT {
        return Err(Error::HttpRequestMethodInvalid);
    }
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    let tls = match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => true,
        Some(scheme) if *scheme == Scheme::HTTP => false,
        _ => return Err(Error::HttpProtocolError),
    };
    let standard = if tls { 443 } else { 80 };
    let port = authority.port_u16();
    let text = authority.host();
    // Also refuses a user name, a port that is no number, and a colon without one.
    let whole = port.map_or_else(|| text.to_owned(), |port| format!("{text}:{port}"));
    if whole != authority.as_str() || port == Some(0) {
        return Err(Error::HttpRequestUriInvalid);
    }
    let port = port.unwrap_or(standard);
    let (host, shown) = if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']').unwrap_or_default();
        let address: Ipv6Addr = inner.parse().map_err(|_| Error::HttpRequestUriInvalid)?;
        (
            Host::Address(IpAddr::from(address).to_canonical()),
            format!("[{address}]"),
        )
    } else if let Ok(address) = text.parse::<IpAddr>() {
        (Host::Address(address), address.to_string())
    } else {
        let name = host_name(text).ok_or(Error::HttpRequestUriInvalid)?;
        (Host::Name(name.clone()), name)
    };
    let header = match port == standard {
        true => shown,
        false => format!("{shown}:{port}"),
    };
    Ok(Target {
        host,
        port,
        tls,
        header,
    })
}

/// Headers of one connection, or of its peer's identity: the host's to write.
fn is_forbidden(name: &HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name) || *name == header::TE || *name == header::TRAILER
}

/// What an exchange that broke off is to a guest.
fn broken(error: &hyper::Error) -> Error {
    if error.is_timeout() {
        Error::HttpResponseTimeout
    } else if error.is_parse_too_large() {
        Error::HttpResponseHeaderSectionSize(None)
    } else if error.is_parse() {
        Error::HttpProtocolError
    } else if error.is_incomplete_message() || error.is_body_write_aborted() {
        Error::HttpResponseIncomplete
    } else {
        Error::ConnectionTerminated
    }
}

impl WasiHttpHooks for HttpHooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    fn send_request(
        &mut self,
        request: Request,
        options: Option<RequestOptions>,
        _: Driver,
    ) -> Box<dyn Future<Output = Result<(Response, Driver), Error>> + Send> {
        let permit = Arc::clone(&self.requests).try_acquire_owned();
        let admitted = self.admit(&request).and_then(|target| {
            permit
                .map(|permit| (target, permit))
                .map_err(|_| Error::ConnectionLimitReached)
        });
        match admitted {
            Ok((target, permit)) => Box::new(send::send(
                Arc::clone(&self.outside),
                Arc::clone(&self.reach),
                target,
                request,
                options.unwrap_or_default(),
                permit,
            )),
            Err(error) => Box::new(ready(Err(error))),
        }
    }

    fn p2_error_from_hyper(&mut self, _: &hyper::Error) -> ErrorCode {
        // None is left: `broken` has named them all.
        ErrorCode::HttpProtocolError
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(uri: &str) -> Result<Target, String> {
        target(&Method::GET, &uri.parse().unwrap()).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn where_a_request_goes() {
        let name = |name: &str| Host::Name(name.into());
        let address = |text: &str| Host::Address(text.parse().unwrap());
        for (uri, host, port, tls, header) in [
            (
                "http://a.example/x",
                name("a.example"),
                80,
                false,
                "a.example",
            ),
            (
                "https://A.Example",
                name("a.example"),
                443,
                true,
                "a.example",
            ),
            (
                "https://a.example:443/",
                name("a.example"),
                443,
                true,
                "a.example",
            ),
            (
                "http://a.example:443/",
                name("a.example"),
                443,
                false,
                "a.example:443",
            ),
            (
                "http://a.example./",
                name("a.example"),
                80,
                false,
                "a.example",
            ),
            (
                "http://10.0.0.1:81/",
                address("10.0.0.1"),
                81,
                false,
                "10.0.0.1:81",
            ),
            ("http://[::1]:81/", address("::1"), 81, false, "[::1]:81"),
            (
                "http://[::ffff:10.0.0.1]/",
                address("10.0.0.1"),
                80,
                false,
                "[::ffff:10.0.0.1]",
            ),
        ] {
            let expected = Target {
                host,
                port,
                tls,
                header: header.into(),
            };
            assert_eq!(read(uri), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn what_is_no_target() {
        for uri in [
            "http://user@a.example/",
            "http://a.example@b.example/",
            "http://a.example:/",
            "http://a.example:0/",
            "http://a.example:99999/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://a..example/",
            "http://*.example/",
        ] {
            assert_eq!(read(uri), Err("HttpRequestUriInvalid".into()), "{uri}");
        }
        assert_eq!(read("ftp://a.example/"), Err("HttpProtocolError".into()));
        let tunnel = target(&Method::CONNECT, &"http://a.example/".parse().unwrap());
        assert!(matches!(tunnel, Err(Error::HttpRequestMethodInvalid)));
    }

    #[test]
    fn headers_of_a_connection_are_the_hosts() {
        for name in [
            "host",
            "connection",
            "transfer-encoding",
            "te",
            "trailer",
            "upgrade",
            "keep-alive",
            "proxy-authorization",
        ] {
            assert!(is_forbidden(&HeaderName::from_static(name)), "{name}");
        }
        for name in [
            "authorization",
            "content-length",
            "cookie",
            "x-forwarded-for",
        ] {
            assert!(!is_forbidden(&HeaderName::from_static(name)), "{name}");
        }
    }
}
