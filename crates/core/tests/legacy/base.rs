//! Where paths start: what makes an unmodified repository work.

use std::path::{Path, PathBuf};

use hookgate_core::config::{Config, PluginKind, Shape};

use crate::support::{folder, load_file, options};

/// Where classes of the first entry are imported from, and its current folder.
fn import_paths(config: &Config) -> (Vec<PathBuf>, PathBuf) {
    let PluginKind::Python {
        import_paths,
        workdir,
        ..
    } = &config.plugins[0].kind
    else {
        panic!("{:?}", config.plugins[0].kind);
    };
    (import_paths.clone(), workdir.clone().unwrap())
}

fn file(dirs: &str, kind: &str) -> String {
    format!("plugin_dirs: {dirs}\nplugins:\n- {{name: p, kind: {kind}, hooks: [x]}}\n")
}

#[test]
fn a_gateways_repository_works_as_it_is() {
    let text = file("[plugins, plugins/external]", "plugins.pii.pii.Filter");
    let root = folder(&[
        ("plugins/config.yaml", &text),
        ("plugins/pii/pii.py", ""),
        ("plugins/external/", ""),
    ]);
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(config.base_dir, root.path());
    let base = root.path().to_owned();
    let expected = vec![
        base.clone(),
        base.join("plugins"),
        base.join("plugins/external"),
    ];
    assert_eq!(import_paths(&config), (expected, base.clone()));
    assert_eq!(config.plugins[0].base_dir, base);
}

#[test]
fn the_base_is_where_the_named_things_are() {
    let kind = "plugins.pii.pii.Filter";
    let cases: [(&str, &str, &str, &[&str], &str); 8] = [
        // (name, plugin_dirs, kind, files, base of r/s/plugins/config.yaml)
        (
            "plugin_dirs beside the file",
            "[mine]",
            kind,
            &["s/plugins/mine/"],
            "s/plugins",
        ),
        (
            "plugin_dirs one above",
            "[plugins/mine]",
            kind,
            &["s/plugins/mine/"],
            "s",
        ),
        (
            "plugin_dirs in the current folder",
            "[mine]",
            kind,
            &["here/mine/"],
            "here",
        ),
        (
            "the nearest of several",
            "[mine]",
            kind,
            &["s/plugins/mine/", "s/mine/", "here/mine/"],
            "s/plugins",
        ),
        (
            "no folder is there but the package is",
            "[plugins/none]",
            "pkg.pii.Filter",
            &["here/pkg/pii.py"],
            "here",
        ),
        (
            "a module instead of a package",
            "[none]",
            "pii.Filter",
            &["s/pii.py"],
            "s",
        ),
        (
            "a folder that is everywhere says nothing",
            "[., ./]",
            "pkg.pii.Filter",
            &["here/pkg/"],
            "here",
        ),
        (
            "nothing is there: above `plugins`",
            "[none]",
            "pkg.pii.Filter",
            &[],
            "s",
        ),
    ];
    for (name, dirs, kind, files, expected) in cases {
        let root = folder(&[("s/plugins/config.yaml", &file(dirs, kind)), ("here/", "")]);
        for file in files {
            match file.strip_suffix('/') {
                Some(_) => std::fs::create_dir_all(root.path().join(file)).unwrap(),
                None => {
                    let path = root.path().join(file);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, "").unwrap();
                }
            }
        }
        let options = options().current_dir(root.path().join("here"));
        let config =
            Config::load_with(&root.path().join("s/plugins/config.yaml"), &options).unwrap();
        assert_eq!(config.base_dir, root.path().join(expected), "{name}");
    }
}

#[test]
fn a_file_elsewhere_starts_at_its_own_folder() {
    let root = folder(&[("conf/gateway.yaml", &file("[none]", "pkg.pii.Filter"))]);
    let config = load_file(root.path(), "conf/gateway.yaml");
    assert_eq!(config.base_dir, root.path().join("conf"));
}

#[test]
fn folders_that_are_not_there_are_notes_and_left_out() {
    let text = "plugin_dirs:\n- plugins\n- plugins/none\n- /etc/hookgate-test/none\n- plugins\nplugins:\n- {name: p, kind: a.b.C, hooks: [x]}\n";
    let root = folder(&[("plugins/config.yaml", text)]);
    let config = load_file(root.path(), "plugins/config.yaml");
    let base = root.path();
    assert_eq!(
        import_paths(&config).0,
        [base.to_owned(), base.join("plugins")]
    );
    let notes: Vec<_> = config
        .report
        .notes
        .iter()
        .map(|note| (note.line, note.message.clone(), note.hint.clone()))
        .collect();
    let looked = |path: &Path| Some(format!("looked at {}", path.display()));
    assert_eq!(
        notes,
        [
            (
                2,
                format!("a legacy configuration: paths start at {}", base.display()),
                None
            ),
            (
                3,
                "plugin_dirs: no such folder: plugins/none".into(),
                looked(&base.join("plugins/none"))
            ),
            (
                4,
                "plugin_dirs: no such folder: /etc/hookgate-test/none".into(),
                looked(Path::new("/etc/hookgate-test/none"))
            ),
        ]
    );
}

#[test]
fn our_own_keys_say_otherwise() {
    let text = "plugin_dirs: [plugins]\nplugins:\n- {name: p, kind: a.b.C, hooks: [x], import_paths: [lib], workdir: lib}\n";
    let root = folder(&[("plugins/config.yaml", text), ("lib/", "")]);
    let lib = root.path().join("lib");
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(import_paths(&config), (vec![lib.clone()], lib));
}

#[test]
fn our_shape_starts_at_the_files_folder() {
    let text = "plugins:\n- {name: p, kind: plugins.b.C, hooks: [x]}\n";
    let root = folder(&[("plugins/config.yaml", text)]);
    let config = load_file(root.path(), "plugins/config.yaml");
    assert_eq!(
        (config.shape, config.base_dir),
        (Shape::Hookgate, root.path().join("plugins"))
    );
}
