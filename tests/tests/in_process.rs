//! Every vector, on trait objects of this process.

use hookgate_vectors::Suite;
use hookgate_vectors::in_process::InThisProcess;

#[tokio::test(flavor = "multi_thread")]
async fn trait_objects() {
    let suite = Suite::load();
    suite.run(&InThisProcess).await.assert_all_of(&suite);
}
