//! `hookgate schema`.

use std::fs;
use std::path::Path;

use super::support::Folder;

#[test]
fn the_schema_is_printed_as_it_is_committed() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.schema.json");
    let committed = fs::read_to_string(committed).unwrap();
    for arguments in [["schema"].as_slice(), &["schema", "--format", "json"]] {
        let ended = Folder::new().run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(
            ended.stdout == committed,
            "hint: hookgate schema > docs/config.schema.json"
        );
    }
}
