//! `kind: isolated_venv`: a class in an environment of its own, as every Python plugin here.

use std::path::Path;

use hookgate_core::config::{Config, PluginKind};

use crate::support::{folder, load_file, notes, refused, told};

fn file(config: &str) -> String {
    format!(
        "plugin_dirs: [plugins]\nplugins:\n- name: p\n  kind: isolated_venv\n  hooks: [x]\n  config:\n{config}"
    )
}

/// Class, requirements file, import paths, of the first entry.
fn python(config: &Config) -> (&str, Option<&Path>, Vec<&Path>) {
    let PluginKind::Python {
        class,
        requirements_file,
        import_paths,
        ..
    } = &config.plugins[0].kind
    else {
        panic!("{:?}", config.plugins[0].kind);
    };
    (
        class,
        requirements_file.as_deref(),
        import_paths.iter().map(AsRef::as_ref).collect(),
    )
}

#[test]
fn the_class_and_its_requirements_are_found_where_the_framework_finds_them() {
    let text = file(
        "    class_name: pii.filter.Filter\n    requirements_file: requirements.txt\n    words: [a]\n",
    );
    let root = folder(&[
        ("plugins/config.yaml", &text),
        ("plugins/pii/requirements.txt", "demo==1\n"),
    ]);
    let config = load_file(root.path(), "plugins/config.yaml");
    let plugins = root.path().join("plugins");
    let requirements = plugins.join("pii/requirements.txt");
    assert_eq!(
        python(&config),
        (
            "pii.filter.Filter",
            Some(&*requirements),
            vec![root.path(), &*plugins]
        )
    );
    let spec = &config.plugins[0];
    // The plugin is given its whole config and its own kind, as at home.
    assert_eq!(
        spec.config.as_str(),
        r#"{"class_name":"pii.filter.Filter","requirements_file":"requirements.txt","words":["a"]}"#
    );
    assert_eq!(spec.framework.as_str(), r#"{"kind":"isolated_venv"}"#);
    assert_eq!(notes(&config), Vec::<String>::new());
}

#[test]
fn the_first_allowed_folder_holds_the_plugins() {
    let text = "plugin_dirs: [/somewhere, ../up, mine, plugins]\nplugins:\n- {name: p, kind: isolated_venv, hooks: [x], \
                config: {class_name: a.C, requirements_file: r.txt}}\n";
    let root = folder(&[
        ("config.yaml", text),
        ("mine/a/r.txt", ""),
        ("plugins/a/r.txt", ""),
    ]);
    let config = load_file(root.path(), "config.yaml");
    assert_eq!(python(&config).1, Some(&*root.path().join("mine/a/r.txt")));
}

#[test]
fn a_requirements_file_that_is_not_there_is_passed_over_with_a_note() {
    let text = file("    class_name: pii.filter.Filter\n    requirements_file: none.txt\n");
    let root = folder(&[("plugins/config.yaml", &text)]);
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(python(&config).1, None);
    let looked = root.path().join("plugins/pii/none.txt");
    assert_eq!(
        notes(&config),
        [format!(
            "8:24 config.requirements_file: no such file, nothing is installed from it: none.txt | looked at {}",
            looked.display()
        )]
    );
}

#[test]
fn what_only_other_hosts_read() {
    let text = file(
        "    class_name: pii.filter.Filter\n    script_path: plugins/pii\n    max_content_size: 100\n    timeout_secs: 2.5\n",
    );
    let root = folder(&[
        ("plugins/config.yaml", &text),
        ("plugins/pii/worker.py", ""),
    ]);
    let config = load_file(root.path(), "plugins/config.yaml");
    let (_, _, import_paths) = python(&config);
    // A folder is a plugin's, as the framework's pages have it.
    assert_eq!(
        import_paths.last(),
        Some(&&*root.path().join("plugins/pii"))
    );
    assert_eq!(config.plugins[0].limits.timeout.as_millis(), 2_500);
    assert_eq!(
        notes(&config),
        [
            "9:23 means nothing here: config.max_content_size | it bounds the framework's own worker; \
          max_payload_bytes at the top of the file bounds ours"
        ]
    );
    // A file is the worker of another host.
    let text = text.replace("plugins/pii\n", "plugins/pii/worker.py\n");
    std::fs::write(root.path().join("plugins/config.yaml"), &text).unwrap();
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(
        python(&config).2,
        [root.path(), &*root.path().join("plugins")]
    );
    assert!(notes(&config)[0].starts_with(
        "8:18 config.script_path: a file, which is not used: the worker is hookgate's own"
    ));
    let text = text.replace("plugins/pii/worker.py\n", "plugins/none\n");
    std::fs::write(root.path().join("plugins/config.yaml"), &text).unwrap();
    let config = load_file(root.path(), "plugins/config.yaml");
    assert!(
        notes(&config)[0]
            .starts_with("8:18 config.script_path: no such folder: plugins/none | looked at ")
    );
}

#[test]
fn what_is_wrong_with_it_is_told() {
    let cases = [
        (
            "    words: []\n",
            "7:5 missing key: config.class_name | write the dotted class, for example class_name: package.module.Class",
        ),
        (
            "    class_name: Filter\n",
            "7:17 config.class_name: not a Python class: Filter | write the dotted class, for example package.module.Class",
        ),
        (
            "    class_name: 7\n",
            "7:17 config.class_name: expected a string, found an integer | write it in quotes: \"7\"",
        ),
        (
            "    class_name: a.C\n    timeout_secs: 0\n",
            "8:19 config.timeout_secs: out of range | write a number of seconds above 0 and at most 3600",
        ),
        (
            "    class_name: a.C\n    timeout_secs: soon\n",
            "8:19 config.timeout_secs: expected a number of seconds, found a string",
        ),
        (
            "    class_name: a.C\n    max_content_size: big\n",
            "8:23 config.max_content_size: expected an integer, found a string",
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(told(&refused(&file(config))), [expected], "{config}");
    }
    let without = "plugin_dirs: []\nplugins:\n- {name: p, kind: isolated_venv, hooks: [x]}\n";
    assert!(told(&refused(without))[0].starts_with("3:3 missing key: config.class_name"));
}

#[test]
fn our_own_keys_install_for_it_too() {
    let text = "plugin_dirs: [plugins]\nplugins:\n- name: p\n  kind: isolated_venv\n  hooks: [x]\n  requirements: [demo==1]\n  \
                config: {class_name: pii.filter.Filter}\n";
    let root = folder(&[("plugins/config.yaml", text)]);
    let config = load_file(root.path(), "plugins/config.yaml");
    let PluginKind::Python { requirements, .. } = &config.plugins[0].kind else {
        panic!("{:?}", config.plugins[0].kind);
    };
    assert_eq!(requirements, &["demo==1"]);
}

#[test]
fn a_package_that_the_framework_installed_is_named() {
    let text = file("    class_name: pii.filter.Filter\n");
    let manifest = "kind: isolated_venv\ndefault_config: {class_name: pii.filter.Filter}\n\
                    package_info: {pypi_package: demo-pii, version_constraint: '==1.2'}\n";
    let root = folder(&[
        ("plugins/config.yaml", &text),
        (
            "plugins/pii/pii-filter-Filter.plugin-manifest.yaml",
            manifest,
        ),
    ]);
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(
        notes(&config),
        [
            "3:3 the framework installed demo-pii==1.2 for it, here nothing is installed unasked | \
          write `requirements: [\"demo-pii==1.2\"]` in the entry"
        ]
    );
}

#[test]
fn our_shape_refuses_it_with_what_to_write() {
    let text =
        "plugins:\n- {name: p, kind: isolated_venv, hooks: [x], config: {class_name: a.C}}\n";
    assert_eq!(
        told(&refused(text)),
        ["2:19 kind isolated_venv: only the legacy shape has it | \
          write the dotted class as `kind:`, with `requirements:` beside it"]
    );
}
