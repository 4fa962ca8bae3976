//! A manifest becomes an entry.

use super::*;

const MANIFEST: &str = "name: PII Filter
kind: pii.plugin.Plugin
description: finds things
author: somebody
version: 1.10
tags: [pii]
available_hooks: [tool_pre_invoke, prompt_pre_fetch]
default_configs: {redact: true, words: ['no']}
";

#[test]
fn a_manifest_becomes_an_entry() {
    let project = Project::new("");
    let file = project.write("plugins/pii/plugin-manifest.yaml", MANIFEST);
    let imported = Imported::load(&file, Shape::Auto, &project.root())
        .unwrap_or_else(|report| panic!("{report}"));
    let written = project.write("hookgate.yaml", &imported.text);
    let again = Config::load(&written).unwrap();
    let expected = Manifest::load(&file).unwrap().spec(None).unwrap();
    let found: Vec<_> = again.plugins.iter().map(comparable).collect();
    assert_eq!(found, [comparable(&expected)], "{}", imported.text);
    let expected = format!(
        "# Written by `hookgate import` from {}, without its comments.
# Paths start at this file's folder.
plugins:
  - name: pii-filter
    kind: pii.plugin.Plugin
    import_paths: [plugins]
    workdir: plugins
    hooks: [tool_pre_invoke, prompt_pre_fetch]
    description: finds things
    author: somebody
    version: \"1.10\"
    tags: [pii]
    config:
      redact: true
      words: [\"no\"]
",
        file.display()
    );
    assert_eq!(imported.text, expected);
}
