//! Servers on loopback. Each ends with its runtime, which is the test's.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

/// A server and what it was asked.
pub struct Server {
    pub addr: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn port(&self) -> u16 {
        self.addr.port()
    }

    /// What each connection began with: the head of a request, or its first bytes.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("unpoisoned").clone()
    }
}

type Reply = Arc<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// Listens at a free port of `address`, or at `port` if it is not 0.
async fn listen(address: &str, port: u16) -> TcpListener {
    let address: IpAddr = address.parse().expect("an address");
    let listener = TcpListener::bind((address, port)).await;
    listener.expect("a port on loopback")
}

/// Reads a head, answers it, closes. Without an answer the connection stays open.
async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    asked: &Mutex<Vec<String>>,
    reply: &Reply,
) {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(n) => head.extend_from_slice(&buffer[..n]),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    asked.lock().expect("unpoisoned").push(head.clone());
    match reply(&head) {
        Some(answer) => {
            // A client that has had enough closes.
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
        None => std::future::pending().await,
    }
}

async fn start(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    asked: Arc<Mutex<Vec<String>>>,
    reply: Reply,
) -> Server {
    let addr = listener.local_addr().expect("it has an address");
    let seen = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, reply, tls) = (Arc::clone(&seen), Arc::clone(&reply), tls.clone());
            tokio::spawn(async move {
                match tls {
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            serve(stream, &seen, &reply).await;
                        }
                    }
                    None => serve(stream, &seen, &reply).await,
                }
            });
        }
    });
    Server { addr, asked }
}

/// A server that gives every request this answer.
pub async fn http(reply: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
    http_at("127.0.0.1", 0, reply).await
}

/// The same at an address and port.
pub async fn http_at(
    address: &str,
    port: u16,
    reply: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> Server {
    start(
        listen(address, port).await,
        None,
        Arc::default(),
        Arc::new(reply),
    )
    .await
}

/// An answer with a body.
pub fn ok(body: &str) -> Option<Vec<u8>> {
    let length = body.len();
    Some(
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// An answer that sends elsewhere.
pub fn redirect(to: &str) -> Option<Vec<u8>> {
    Some(
        format!(
            "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        .into_bytes(),
    )
}

/// Tells a certificate's owner by the name the client asks for, and notes it.
#[derive(Debug)]
struct OneKey {
    key: Arc<CertifiedKey>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ResolvesServerCert for OneKey {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().unwrap_or("no name");
        self.asked
            .lock()
            .expect("unpoisoned")
            .push(format!("sni {name}"));
        Some(Arc::clone(&self.key))
    }
}

/// A server with TLS whose certificate is for `name`, and that certificate, which is its own authority.
pub async fn https(name: &str, body: &'static str) -> (Server, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let key = ring::sign::any_supported_type(&key).expect("a key of a kind it knows");
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let one = OneKey {
        key: Arc::new(CertifiedKey::new(vec![certificate.clone()], key)),
        asked: Arc::clone(&asked),
    };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(one));
    let tls = TlsAcceptor::from(Arc::new(config));
    let listener = listen("127.0.0.1", 0).await;
    let server = start(listener, Some(tls), asked, Arc::new(move |_| ok(body))).await;
    (server, certificate.to_vec())
}
