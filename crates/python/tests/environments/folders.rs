//! Where code comes from: a plugin's folder, and entry points.

use hookgate_core::Host as _;
use hookgate_core::config::{PluginKind, PluginSpec};

use super::rig::{Rig, make_wheel};

fn class_in(rig: &Rig, class: &str, paths: &[&str]) -> PluginSpec {
    let mut spec = rig.spec_of("p", &[]);
    spec.kind = PluginKind::Python {
        class: class.into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: paths.iter().map(Into::into).collect(),
        workdir: None,
    };
    spec
}

#[tokio::test]
async fn a_plugins_folder_says_what_it_needs() {
    let rig = Rig::new();
    rig.write(
        "plugins/pkg/requirements.txt",
        "--no-index\n../../cpex-0.1.4-py3-none-any.whl\ncpex\n",
    );
    let prepared = rig
        .prepared(&class_in(&rig, "pkg.module.Class", &["empty", "plugins"]))
        .await;
    let file = rig.path().join("plugins/pkg/requirements.txt");
    let note = format!("what it needs is read from {}", file.display());
    assert_eq!(prepared.notes, [note]);
    assert_eq!(rig.events(), ["building p 2", "built p true"]);
    // What the entry says itself counts instead.
    let prepared = rig.prepared(&rig.spec("p")).await;
    assert_eq!(prepared.notes, Vec::<String>::new());
}

/// A module in a folder of many is no plugin's folder, and what lies there is somebody else's.
#[tokio::test]
async fn a_requirements_file_beside_other_things_is_not_taken() {
    let rig = Rig::new();
    rig.write("plugins/requirements.txt", "hookgate-no-such-package\n");
    rig.write("plugins/module.py", "");
    let spec = class_in(&rig, "module.Class", &["plugins"]);
    let missing = rig.bare_host().prepare(&spec).await.expect_err("no Python");
    assert_eq!(
        missing.message,
        "the environment of p cannot be built: cpex==0.1.4: no python3 on PATH"
    );
    // A manifest makes it one.
    rig.write("plugins/plugin-manifest.yaml", "version: 1\n");
    let missing = rig.bare_host().prepare(&spec).await.expect_err("no Python");
    assert_eq!(
        missing.message,
        "the environment of p cannot be built: cpex==0.1.4, hookgate-no-such-package: no python3 on PATH"
    );
}

#[tokio::test]
async fn an_entry_point_is_named_as_a_class() {
    let rig = Rig::new();
    make_wheel(
        rig.path(),
        &[
            "",
            "one",
            "1",
            "good = one.plugin:Good\ntwice = one.a:B\nodd = one.plugin",
        ],
    );
    make_wheel(rig.path(), &["", "two", "1", "twice = two.a:B"]);
    let wheels = [
        "./one-1-py3-none-any.whl",
        "./two-1-py3-none-any.whl",
        super::rig::WHEEL,
        "cpex",
    ];
    let refused = async |name: &str| {
        let mut spec = rig.spec_of("p", &wheels);
        if let PluginKind::Python { class, .. } = &mut spec.kind {
            *class = format!("cpex.plugins.{name}");
        }
        rig.host()
            .load(spec)
            .await
            .err()
            .expect("nothing of it can be imported")
    };
    // The wheel's cpex has no framework in it, so that this is how far it comes: to the class it leads to.
    let error = refused("good").await;
    assert!(
        error
            .message
            .starts_with("the class cannot be loaded: one.plugin.Good: framework: "),
        "{}",
        error.message
    );
    for (name, message) in [
        (
            "none",
            "no class of the entry point none: the installed packages have good, odd, twice",
        ),
        (
            "twice",
            "no class of the entry point twice: several packages have it: ",
        ),
        (
            "odd",
            "no class of the entry point odd: it leads to one.plugin, which is not module:Class",
        ),
    ] {
        let error = refused(name).await;
        assert!(error.message.starts_with(message), "{}", error.message);
        assert!(error.hint.is_some());
    }
}
