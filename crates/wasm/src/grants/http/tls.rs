//! TLS towards what is granted: the system's roots, the granted name.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use wasmtime_wasi_http::Error;

use super::Host;

/// Makes connections secret. The system's roots are read when the first one is made.
#[derive(Default)]
pub(crate) struct Tls {
    /// Authorities that are trusted besides the system's.
    more: Vec<CertificateDer<'static>>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    pub(crate) fn with_authorities(more: Vec<Vec<u8>>) -> Self {
        Self {
            more: more.into_iter().map(CertificateDer::from).collect(),
            config: OnceCell::new(),
        }
    }

    /// A connection to `host`, whose certificate was checked for it.
    pub(super) async fn wrap(
        &self,
        host: &Host,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Error> {
        let name = match host {
            Host::Name(name) => {
                ServerName::try_from(name.clone()).map_err(|_| Error::HttpRequestUriInvalid)?
            }
            Host::Address(address) => ServerName::from(*address),
        };
        let config = self.config.get_or_try_init(|| self.configure()).await?;
        TlsConnector::from(Arc::clone(config))
            .connect(name, stream)
            .await
            .map_err(|error| insecure(&error))
    }

    async fn configure(&self) -> Result<Arc<ClientConfig>, Error> {
        let more = self.more.clone();
        let config = tokio::task::spawn_blocking(move || {
            let mut roots = RootCertStore::empty();
            let system = rustls_native_certs::load_native_certs();
            for error in &system.errors {
                tracing::warn!("cannot read some of the system's certificate authorities: {error}");
            }
            // Some stores hold certificates that no longer parse; the rest counts.
            roots.add_parsable_certificates(system.certs.into_iter().chain(more));
            if roots.is_empty() {
                tracing::error!(
                    "this system has no certificate authorities, so no plugin can use https; hint: install them (ca-certificates), or set SSL_CERT_FILE"
                );
            }
            let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots)
                .with_no_client_auth();
            Ok::<_, rustls::Error>(Arc::new(config))
        });
        match config.await {
            Ok(Ok(config)) => Ok(config),
            _ => Err(Error::ConfigurationError),
        }
    }
}

/// What a failed handshake is to a guest.
fn insecure(error: &io::Error) -> Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
            Error::TlsCertificateError
        }
        Some(rustls::Error::AlertReceived(alert)) => Error::TlsAlertReceived {
            alert_id: Some(u8::from(*alert)),
            alert_message: Some(format!("{alert:?}")),
        },
        Some(_) => Error::TlsProtocolError,
        None => Error::ConnectionTerminated,
    }
}
