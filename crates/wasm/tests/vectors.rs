//! Every vector, on the component written in Rust and the one compiled from Python.

use std::sync::Arc;

use hookgate_core::Host;
use hookgate_vectors::{Kind, Setup as _, Suite};
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
