//! Every vector, on the legacy classes in workers.

use std::sync::Arc;

use hookgate_core::Host;
use hookgate_python::{PythonHost, PythonHostOptions};
use hookgate_vectors::{Kind, Suite, assert_none, guests};

#[tokio::test(flavor = "multi_thread")]
async fn legacy_classes() {
    let host: Arc<dyn Host> = Arc::new(PythonHost::new(PythonHostOptions::new(
        guests::environments(),
    )));
    let suite = Suite::load();
    assert!(
        suite.vectors.len() >= 60,
        "only {} vectors",
        suite.vectors.len()
    );
    assert_none(&suite.run(&(Kind::Legacy, host)).await);
}
