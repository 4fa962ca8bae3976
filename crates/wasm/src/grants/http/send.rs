//! One request: its host's addresses, a connection to one that was checked, the response.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::RefusalCode;
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper::http::{HeaderValue, Uri, header};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions};

use super::body::LimitedBody;
use super::{Driver, Host, Request, Response, Target, broken};
use crate::grants::outside::Outside;
use crate::grants::reach::{NETWORK, Reach};
use crate::limits::{
    HTTP_BETWEEN_BYTES_TIMEOUT, HTTP_CONNECT_TIMEOUT, HTTP_FIRST_BYTE_TIMEOUT,
    MAX_ADDRESSES_PER_NAME, MAX_HTTP_RESPONSE_BYTES, MAX_HTTP_RESPONSE_HEAD_BYTES,
};

/// A connection, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Sends a request whose target was granted. Redirects, proxies and their variables are not followed.
pub(super) async fn send(
    outside: Arc<Outside>,
    reach: Arc<Reach>,
    target: Target,
    mut request: Request,
    options: RequestOptions,
    permit: OwnedSemaphorePermit,
) -> Result<(Response, Driver), Error> {
    let within = |asked: Option<Duration>, most: Duration| {
        asked.unwrap_or(most).min(most).min(reach.remaining())
    };
    let connect_timeout = within(options.connect_timeout, HTTP_CONNECT_TIMEOUT);
    let connecting = async {
        let stream = connect(&outside, &reach, &target).await?;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HTTP_RESPONSE_HEAD_BYTES);
        builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error))
    };
    let (mut sender, mut connection) = timeout(connect_timeout, connecting)
        .await
        .map_err(|_| Error::ConnectionTimeout)??;
    address(&mut request, &target)?;

    let first_byte = within(options.first_byte_timeout, HTTP_FIRST_BYTE_TIMEOUT);
    let sending = timeout(first_byte, sender.send_request(request));
    tokio::pin!(sending);
    let mut ended = false;
    let response = tokio::select! {
        biased;
        response = &mut sending => response,
        end = &mut connection => {
            end.map_err(|error| broken(&error))?;
            ended = true;
            sending.await
        }
    };
    let response = response
        .map_err(|_| Error::ConnectionReadTimeout)?
        .map_err(|error| broken(&error))?;
    let said = response
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|length| length > MAX_HTTP_RESPONSE_BYTES) {
        return Err(Error::HttpResponseBodySize(said));
    }
    let between_bytes = within(options.between_bytes_timeout, HTTP_BETWEEN_BYTES_TIMEOUT);
    let response = response.map(|body| LimitedBody::new(body, between_bytes).boxed_unsync());
    let driver = async move {
        let _permit = permit;
        // What it ends with is told where the body is read; a response nobody reads may break off.
        if !ended && let Err(error) = connection.await {
            tracing::debug!("a plugin's connection ended: {error}");
        }
        Ok(())
    };
    Ok((response, Box::new(driver)))
}

/// The request as it goes over the wire: a path, and the host that was checked.
fn address(request: &mut Request, target: &Target) -> Result<(), Error> {
    let host = HeaderValue::from_str(&target.header).map_err(|_| Error::HttpRequestUriInvalid)?;
    request.headers_mut().insert(header::HOST, host);
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    };
    *request.uri_mut() = Uri::try_from(path).map_err(|_| Error::HttpRequestUriInvalid)?;
    Ok(())
}

/// Connects to the first address of the target that answers, of those that may be connected to.
async fn connect(
    outside: &Outside,
    reach: &Reach,
    target: &Target,
) -> Result<Box<dyn Stream>, Error> {
    let addresses = addresses(outside, reach, target).await?;
    let mut failed = Error::DestinationUnavailable;
    for address in addresses {
        // To the address itself: asking for the name once more could give another.
        match TcpStream::connect(SocketAddr::new(address, target.port)).await {
            Ok(stream) => {
                // A request is written in one go, and its answer is waited for.
                let _ = stream.set_nodelay(true);
                return match target.tls {
                    true => Ok(Box::new(outside.tls().wrap(&target.host, stream).await?)),
                    false => Ok(Box::new(stream)),
                };
            }
            Err(error) => failed = unconnected(&error),
        }
    }
    Err(failed)
}

/// The addresses a request may go to. Those it may not are counted; with none left it is refused.
async fn addresses(
    outside: &Outside,
    reach: &Reach,
    target: &Target,
) -> Result<Vec<IpAddr>, Error> {
    let name = match &target.host {
        // Granted as such, with its port.
        Host::Address(address) => return Ok(vec![*address]),
        Host::Name(name) => name,
    };
    let mut found = outside
        .resolver()
        .resolve(name)
        .await
        .map_err(|error| Error::DnsError {
            rcode: Some(error.to_string()),
            info_code: None,
        })?;
    found.truncate(MAX_ADDRESSES_PER_NAME);
    if found.is_empty() {
        return Err(Error::DestinationNotFound);
    }
    found.retain(|address| {
        let admitted = reach
            .policy()
            .admits(SocketAddr::new(*address, target.port));
        if !admitted {
            reach.refuse(NETWORK, RefusalCode::NotGranted);
        }
        admitted
    });
    if found.is_empty() {
        return Err(Error::HttpRequestDenied);
    }
    Ok(found)
}

fn unconnected(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Error::ConnectionRefused,
        io::ErrorKind::TimedOut => Error::ConnectionTimeout,
        _ => Error::DestinationUnavailable,
    }
}
