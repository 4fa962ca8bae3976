//! `plugin-manifest.yaml`, in the spellings that are found in the wild.

use hookgate_core::config::{Config, Manifest, Mode, PluginKind};

use crate::support::{folder, told};

fn parse(text: &str) -> Manifest {
    Manifest::parse(
        text,
        "plugin-manifest.yaml",
        "/nowhere/Deny Filter".as_ref(),
    )
    .unwrap_or_else(|report| panic!("{text}\n{report}"))
}

#[test]
fn every_spelling_of_the_default_settings() {
    let cases = [
        ("default_config: {a: yes}", r#"{"a":true}"#),
        ("default_configs: {a: 1}", r#"{"a":1}"#),
        ("config: {a: 1}", r#"{"a":1}"#),
        ("default_configs:", "{}"),
        ("default_configs: {}", "{}"),
        ("version: 1", "{}"),
        (
            "default_configs: {a: 1}\ndefault_config: {a: 2}",
            r#"{"a":2}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).default_config.as_str(), expected, "{text}");
    }
}

#[test]
fn what_the_author_says() {
    let manifest = parse(
        "name: Deny List\nkind: plugins.deny.deny.Deny\ndescription: d\nauthor: a\nversion: 0.1.0\ntags: [x]\npriority: 7\n\
         available_hooks: [prompt_pre_fetch]\nrequirements: ['demo>=1']\n",
    );
    assert_eq!(manifest.name, "deny-list");
    assert_eq!(manifest.class.as_deref(), Some("plugins.deny.deny.Deny"));
    assert_eq!(
        (manifest.priority, manifest.hooks.as_slice()),
        (7, ["prompt_pre_fetch".to_owned()].as_slice())
    );
    assert_eq!(manifest.requirements, ["demo>=1"]);
    assert_eq!(manifest.about.version.as_deref(), Some("0.1.0"));
    assert_eq!(manifest.report.notes.len(), 0);
}

#[test]
fn most_of_it_may_be_missing() {
    let manifest = parse("description: d\nauthor: a\nversion: 0.1.0\n");
    assert_eq!(manifest.name, "deny-filter");
    assert_eq!(
        (manifest.class, manifest.hooks.len(), manifest.priority),
        (None, 0, 100)
    );
}

#[test]
fn what_is_odd_is_a_note() {
    let manifest = parse(
        "descripton: d\nsupported_formats: [str]\nhooks: [HTTP_PRE_REQUEST, prompt_pre_hook]\ntags: x\npriority: soon\n\
         monorepo: {repo_url: u}\nkind: external\n",
    );
    assert_eq!(manifest.hooks, ["HTTP_PRE_REQUEST", "prompt_pre_hook"]);
    assert_eq!(
        (manifest.kind.as_deref(), manifest.class.as_deref()),
        (Some("external"), None)
    );
    let lines: Vec<_> = manifest.report.notes.iter().map(|note| note.line).collect();
    assert_eq!(lines, [1, 2, 3, 3, 4, 5, 6], "{}", manifest.report);
    assert!(
        manifest.report.notes[0]
            .hint
            .as_deref()
            .unwrap()
            .starts_with("did you mean `description`?")
    );
}

#[test]
fn an_isolated_one_names_its_class_in_its_settings() {
    let manifest = parse(
        "kind: isolated_venv\ndefault_config: {class_name: pii.filter.Filter}\n\
         package_info: {pypi_package: demo-pii, version_constraint: '>=1,<2'}\n",
    );
    assert_eq!(manifest.class.as_deref(), Some("pii.filter.Filter"));
    assert_eq!(manifest.requirements, ["demo-pii>=1,<2"]);
}

#[test]
fn a_configuration_of_one_plugin_comes_of_it() {
    let text = "kind: plugins.deny.deny.Deny\navailable_hooks: [prompt_pre_fetch]\ndefault_configs: {words: [a]}\n\
                package_info: {pypi_package: demo}\n";
    let root = folder(&[
        ("plugins/deny/plugin-manifest.yaml", text),
        ("plugins/deny/deny.py", ""),
    ]);
    let manifest = Manifest::load(&root.path().join("plugins/deny/plugin-manifest.yaml")).unwrap();
    let config = Config::from_manifest(&manifest, None).unwrap();
    let spec = &config.plugins[0];
    assert_eq!(
        (spec.name.as_str(), spec.mode, spec.hooks.as_slice()),
        (
            "deny",
            Mode::Sequential,
            ["prompt_pre_fetch".to_owned()].as_slice()
        )
    );
    assert_eq!(spec.config.as_str(), r#"{"words":["a"]}"#);
    let PluginKind::Python {
        class,
        requirements,
        import_paths,
        workdir,
        ..
    } = &spec.kind
    else {
        panic!("{:?}", spec.kind);
    };
    assert_eq!(
        (class.as_str(), requirements.as_slice()),
        ("plugins.deny.deny.Deny", ["demo".to_owned()].as_slice())
    );
    // The class says `plugins.deny`, so it is imported from the folder that holds `plugins`.
    assert_eq!(
        (import_paths.as_slice(), workdir.as_deref()),
        ([root.path().to_owned()].as_slice(), Some(root.path()))
    );
}

#[test]
fn without_a_class_somebody_must_say_it() {
    let manifest = parse("description: d\n");
    let report = Config::from_manifest(&manifest, None).unwrap_err();
    assert_eq!(
        told(&report.problems),
        [
            "1:1 missing key: kind | write the dotted class as `kind:`, for example package.module.Class"
        ]
    );
    let report = parse("kind: external\n").spec(None).unwrap_err();
    assert_eq!(
        report.problems[0].message,
        "kind external: it names no Python class"
    );
    let config = Config::from_manifest(&manifest, Some("deny.plugin.Deny")).unwrap();
    assert_eq!(config.plugins[0].kind.name(), "python");
}

#[test]
fn only_what_is_no_mapping_does_not_load() {
    for text in ["[]", "text", "", "a: [", "a: 1\n---\nb: 2"] {
        let report = Manifest::parse(text, "plugin-manifest.yaml", ".".as_ref()).unwrap_err();
        assert_eq!(report.problems.len(), 1, "{text}");
    }
    let report = Manifest::load("/nowhere/plugin-manifest.yaml".as_ref()).unwrap_err();
    assert_eq!(
        report.problems[0].message,
        "the configuration cannot be read: no such file or folder"
    );
}
