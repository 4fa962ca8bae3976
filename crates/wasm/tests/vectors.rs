//! Every vector, on the component written in Rust and the one compiled from Python; on the first however
//! its instances serve.

use std::sync::Arc;

use hookgate_core::config::{InstancePolicy, Instances};
use hookgate_core::{Engine, Host};
use hookgate_vectors::{Kind, Setup, Suite};
use hookgate_wasm::WasmHost;

async fn run(kind: Kind) {
    let host: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let suite = Suite::load();
    // Holds all three policies, so that each component is compiled once and not once a setup.
    let holder = (kind, Arc::clone(&host)).engine(&suite, "chain").await;
    suite.run(&(kind, host)).await.assert_all_of(&suite);
    holder.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_component() {
    run(Kind::Rust).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compiled_python_component() {
    run(Kind::CompiledPython).await;
}

/// Rust components whose instances serve like this.
struct Serving(Arc<dyn Host>, Instances);

impl Setup for Serving {
    fn kind(&self) -> Kind {
        Kind::Rust
    }

    async fn engine(&self, suite: &Suite, setup: &str) -> Engine {
        let mut config = self.kind().config(suite, setup);
        for spec in &mut config.plugins {
            spec.instances = self.1;
        }
        let builder = Engine::builder().config(config).host(Arc::clone(&self.0));
        builder
            .build()
            .await
            .unwrap_or_else(|report| panic!("setup {setup} does not load\n{report}"))
    }
}

async fn serve(instances: Instances) {
    let host: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let suite = Suite::load();
    let setup = Serving(Arc::clone(&host), instances);
    let holder = setup.engine(&suite, "chain").await;
    suite.run(&setup).await.assert_all_of(&suite);
    holder.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_that_serve_again() {
    serve(Instances {
        policy: InstancePolicy::Reuse,
        ..Instances::default()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_made_for_each_call() {
    serve(Instances {
        stock: 0,
        ..Instances::default()
    })
    .await;
}
