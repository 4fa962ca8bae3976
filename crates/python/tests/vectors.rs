//! Every vector, on the legacy classes in workers.

use std::sync::Arc;

use hookgate_core::Host;
use hookgate_python::{PythonHost, PythonHostOptions};
use hookgate_vectors::{Kind, Suite, guests};

#[tokio::test(flavor = "multi_thread")]
async fn legacy_classes() {
    let host: Arc<dyn Host> = Arc::new(PythonHost::new(PythonHostOptions::new(
        guests::environments(),
    )));
    let suite = Suite::load();
    let report = suite.run(&(Kind::Legacy, host)).await;
    report.assert_all_of(&suite);
}
