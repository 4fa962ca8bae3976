//! Where names lead: the one place that asks.

use std::io;
use std::net::IpAddr;

use futures::future::BoxFuture;

/// Says which addresses a name has.
pub trait Resolve: Send + Sync {
    /// The addresses of `name`, a host's name in lower case without a dot at its end. Each is checked
    /// against the grants before anything is done with it.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
