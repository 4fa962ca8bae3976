//! A legacy file in our own words gives the specs that the file itself gives.

#[path = "import/manifest.rs"]
mod manifest;
#[path = "import/python.rs"]
mod python;

use std::fs;
use std::path::{Path, PathBuf};

use hookgate_core::Json;
use hookgate_core::config::{
    Config, ConfigReport, Environment, Imported, Manifest, Mode, PluginKind, PluginSpec,
    ReadOptions, Shape,
};
use tempfile::TempDir;

/// A project as the legacy framework knows it: its configuration in `plugins/`, its code beside it.
struct Project(TempDir);

impl Project {
    fn new(config: &str) -> Self {
        let project = Self(TempDir::new().unwrap());
        for file in [
            "plugins/pii/requirements.txt",
            "plugins/pii/plugin.py",
            "gate.wasm",
            "my_pkg/__init__.py",
            "venvs/one/bin/python",
        ] {
            project.write(file, "");
        }
        project.write("plugins/config.yaml", config);
        project
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn config(&self) -> PathBuf {
        self.root().join("plugins/config.yaml")
    }

    /// The configuration as it is, with no variable set.
    fn loaded(&self) -> Config {
        let options = ReadOptions::new(Shape::Legacy).environment(Environment::new(|_| None));
        let options = options.current_dir(self.root());
        Config::load_with(&self.config(), &options).unwrap_or_else(|report| panic!("{report}"))
    }

    fn imported_for(&self, folder: &str) -> Result<Imported, ConfigReport> {
        Imported::load(&self.config(), Shape::Legacy, &self.root().join(folder))
    }

    fn imported(&self) -> Imported {
        self.imported_for(".")
            .unwrap_or_else(|report| panic!("{report}"))
    }
}

fn notes(imported: &Imported) -> Vec<String> {
    let notes = imported.report.notes.iter();
    notes
        .map(|note| {
            let plugin = note.plugin.as_deref().unwrap_or("-");
            format!("{}:{plugin}: {}", note.line, note.message)
        })
        .collect()
}

/// A path without what only its spelling has.
fn real(path: &Path) -> PathBuf {
    path.canonicalize()
        .unwrap_or_else(|_| path.components().collect())
}

/// What must be equal: all but where it was written, and what is listed as left out.
fn comparable(spec: &PluginSpec) -> PluginSpec {
    let mut spec = spec.clone();
    spec.line = 0;
    spec.base_dir = PathBuf::new();
    spec.group = None;
    spec.framework = Json::object();
    spec.about.namespace = None;
    if spec.mode == Mode::Disabled {
        // Only its name and its settings are loaded; what an imported one keeps has a test of its own.
        spec.kind = PluginKind::Wasm {
            component: spec.kind.name().into(),
        };
    }
    match &mut spec.kind {
        PluginKind::Wasm { component } => *component = real(component),
        PluginKind::Python {
            requirements_file,
            import_paths,
            workdir,
            ..
        } => {
            for path in requirements_file
                .iter_mut()
                .chain(import_paths)
                .chain(workdir)
            {
                *path = real(path);
            }
        }
        _ => {}
    }
    for grant in &mut spec.permissions.files {
        grant.host = real(&grant.host);
        if matches!(spec.kind, PluginKind::Python { .. }) {
            grant.guest = real(Path::new(&grant.guest)).display().to_string();
        }
    }
    if let Some(environment) = &mut spec.python.environment {
        *environment = real(environment);
    }
    spec
}

/// Files that say something in every way the framework knows, each with the names that are left out.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "modes, priorities, what a fault does",
        "plugin_dirs: [plugins]
plugins:
- {name: a, kind: my_pkg.A, hooks: [tool_pre_invoke], mode: enforce}
- {name: b, kind: my_pkg.B, hooks: [tool_pre_invoke], mode: enforce_ignore_error, priority: -5}
- {name: c, kind: my_pkg.C, hooks: [tool_pre_invoke, tool_post_invoke], mode: permissive, on_error: disable}
- {name: d, kind: my_pkg.D, hooks: [x], mode: audit}
- {name: e, kind: my_pkg.E, hooks: [x], mode: concurrent, priority: 7}
- {name: f, kind: my_pkg.F, hooks: [x], mode: fire_and_forget}
- {name: g, kind: my_pkg.G, hooks: [x], mode: disabled, on_error: ignore}
",
        &[],
    ),
    (
        "settings, capabilities, conditions, an isolated class",
        "plugin_settings: {plugin_timeout: 45, fail_on_plugin_error: false}
plugin_dirs: [plugins]
plugins:
- name: pii
  kind: isolated_venv
  namespace: security
  version: 1.10
  author: somebody
  description: 'finds: things'
  tags: [pii, \"no\"]
  hooks: [tool_pre_invoke]
  capabilities: [read_headers, append_labels]
  conditions:
  - {server_ids: [], tenant_ids: [acme], tools: [b, a]}
  - {user_patterns: [admin], content_types: [Text/HTML]}
  config: {class_name: pii.plugin.Plugin, requirements_file: requirements.txt, script_path: pii, words: ['no', '1.0']}
",
        &[],
    ),
    (
        "settings of a plugin, as they are written",
        "plugin_dirs: [plugins]
plugins:
- name: a
  kind: my_pkg.A
  hooks: [tool_pre_invoke]
  config:
    number: 1.10
    big: 123456789012345678901234567890
    words: ['no', 'yes', '~', '1.0', '', ' a ', 'a: b', '# c', '{x}', '- d']
    text: |
      first: line
        second

      third
    folded: >-
      one
      two
    deep: {a: [{b: [1, [2, null]]}], 'odd key:': true}
    empty: {}
    none: []
",
        &[],
    ),
    (
        "what has no place",
        "plugin_dirs: [plugins]
plugins:
- {name: far, kind: external, hooks: [x], mode: disabled, mcp: {proto: STDIO}}
- {name: silent, kind: my_pkg.A, hooks: []}
- {name: kept, kind: my_pkg.A, hooks: [x]}
- {name: off, kind: my_pkg.Missing, hooks: [x], mode: disabled, config: {a: 1}}
",
        &["far", "silent"],
    ),
    (
        "our own words in it",
        "plugin_dirs: [plugins]
max_payload_bytes: 5 MB
max_state_bytes: 64KiB
plugins:
- name: gate
  kind: wasm
  component: gate.wasm
  digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  hooks: [x]
  limits: {timeout: 1m 30s, memory: 128MiB, concurrency: 3}
  permissions: {files: [{host: my_pkg, guest: /pkg, access: read_write}, {host: ., guest: /all}], env: [A, B], data: [read_agent]}
- {name: other, kind: my_pkg.A, hooks: [x], requirements: [a==1], import_paths: [plugins], workdir: plugins}
groups:
- {name: g, plugins: [gate, other], priority: 20, conditions: [{tools: [t]}]}
",
        &[],
    ),
    (
        "how the worker of a class is made and kept, and what it may reach",
        "plugin_dirs: [plugins]
plugins:
- name: a
  kind: my_pkg.A
  hooks: [x]
  requirements: [a==1]
  python:
    environment: venvs/one
    settings: {log_level: debug, ratio: 1.10, 'odd name': [1, {b: null}], words: ['no', '1.0']}
  workers: 7
  idempotent: yes
  sandbox: best_effort
  permissions: {files: [{host: my_pkg, access: read_write}, {host: gate.wasm}], network: [{host: a.example, port: 443}], processes: on}
- {name: b, kind: my_pkg.B, hooks: [x], worker: framework, allow_build: true}
- {name: c, kind: my_pkg.B, hooks: [x], worker: hookgate, workers: 1, idempotent: no, sandbox: strict, allow_build: off, python: {settings: {}}}
",
        &[],
    ),
    (
        "templates with defaults",
        "plugin_dirs: [plugins]
plugins:
- name: a
  kind: my_pkg.A
  hooks: [x]
  mode: \"{{ env['MODE'] | default('permissive') }}\"
  config:
    url: \"{{ env.URL | default('redis://localhost') }}\"
    limit: {{ env.LIMIT | default(10) }}
",
        &[],
    ),
    ("nothing", "plugin_dirs: [plugins]\nplugins: []\n", &[]),
];

#[test]
fn the_imported_file_gives_the_same_specs() {
    for (name, text, left_out) in CASES {
        let project = Project::new(text);
        let loaded = project.loaded();
        for (index, folder) in [".", "plugins", "my_pkg", "elsewhere/deep"]
            .into_iter()
            .enumerate()
        {
            fs::create_dir_all(project.root().join(folder)).unwrap();
            let imported = project
                .imported_for(folder)
                .unwrap_or_else(|report| panic!("{name}: {report}"));
            let file = project.write(&format!("{folder}/hookgate-{index}.yaml"), &imported.text);
            let again = Config::load(&file)
                .unwrap_or_else(|report| panic!("{name}: {report}\n{}", imported.text));
            assert_eq!(again.shape, Shape::Hookgate, "{name}");
            let kept = loaded
                .plugins
                .iter()
                .filter(|spec| !left_out.contains(&spec.name.as_str()));
            let expected: Vec<_> = kept.map(comparable).collect();
            let found: Vec<_> = again.plugins.iter().map(comparable).collect();
            assert_eq!(found, expected, "{name}, in {folder}:\n{}", imported.text);
            assert_eq!(imported.plugins, found.len(), "{name}");
            assert_eq!(
                (again.max_payload_bytes, again.max_state_bytes),
                (loaded.max_payload_bytes, loaded.max_state_bytes),
                "{name}"
            );
            for name in *left_out {
                let told = notes(&imported);
                let line = format!(":{name}: left out: ");
                assert!(
                    told.iter().any(|note| note.contains(&line)),
                    "{name}: {told:#?}"
                );
            }
        }
    }
}

#[test]
fn a_disabled_entry_is_kept_whole() {
    let text = CASES[1]
        .1
        .replace("  namespace:", "  mode: disabled\n  namespace:");
    let project = Project::new(&text);
    let imported = project.imported();
    let on = imported.text.replacen("    mode: disabled\n", "", 1);
    assert_ne!(on, imported.text);
    let file = project.write("hookgate.yaml", &on);
    let found: Vec<_> = Config::load(&file)
        .unwrap()
        .plugins
        .iter()
        .map(comparable)
        .collect();
    let expected: Vec<_> = Project::new(CASES[1].1).loaded().plugins;
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.hooks, expected.hooks);
        assert_eq!(
            (found.limits, &found.config),
            (expected.limits, &expected.config)
        );
        let PluginKind::Python {
            class,
            requirements_file,
            import_paths,
            ..
        } = &found.kind
        else {
            panic!("{found:#?}")
        };
        assert_eq!(class, "pii.plugin.Plugin");
        assert_eq!(
            *requirements_file,
            Some(project.root().join("plugins/pii/requirements.txt"))
        );
        assert_eq!(
            *import_paths,
            [project.root(), project.root().join("plugins")]
        );
    }
}

#[test]
fn an_imported_file_is_not_imported_again() {
    let project = Project::new(CASES[0].1);
    let imported = project.imported();
    let file = project.write("hookgate.yaml", &imported.text);
    let report = Imported::load(&file, Shape::Auto, &project.root()).unwrap_err();
    let name = file.display();
    assert_eq!(
        report.to_string(),
        format!(
            "error: the configuration is in hookgate's own shape already\n  --> {name}:1:1\n  hint: use it as it is: hookgate check {name}; a legacy file without `plugin_dirs` is read as one with --shape legacy"
        )
    );
}

#[test]
fn how_it_looks() {
    let project = Project::new(CASES[1].1);
    let imported = project.imported();
    let expected = format!(
        "# Written by `hookgate import` from {}, without its comments.
# Paths start at this file's folder.
plugins:
  - name: pii
    kind: pii.plugin.Plugin
    requirements_file: plugins/pii/requirements.txt
    import_paths: ['.', plugins]
    hooks: [tool_pre_invoke]
    conditions:
      - tenant_ids: [acme]
        tools: [a, b]
      - user_patterns: [admin]
        content_types: [text/html]
    limits:
      timeout: 45s
    permissions:
      data: [append_labels, read_headers]
    description: \"finds: things\"
    author: somebody
    version: \"1.10\"
    tags: [pii, \"no\"]
    config:
      class_name: pii.plugin.Plugin
      requirements_file: requirements.txt
      script_path: pii
      words: [\"no\", \"1.0\"]
",
        project.config().display()
    );
    assert_eq!(imported.text, expected);
}

#[test]
fn everything_that_is_left_out_is_listed() {
    let project = Project::new(CASES[1].1);
    let told = notes(&project.imported());
    for expected in [
        "1:-: left out: plugin_settings.fail_on_plugin_error: false, here a plugin that does not load keeps all from starting",
        "4:pii: left out: namespace security",
        "4:pii: left out, since only the plugin itself reads it of its entry: kind: \"isolated_venv\"",
        "4:pii: at home it could read every environment variable, file and host; variables it sees here: none",
    ] {
        assert!(
            told.iter().any(|note| note == expected),
            "{expected}\n{told:#?}"
        );
    }
    let of_plugin = Project::new(CASES[4].1).imported();
    let grants: Vec<_> = notes(&of_plugin)
        .into_iter()
        .filter(|note| note.contains("at home"))
        .collect();
    assert_eq!(
        grants,
        [
            "12:other: at home it could read every environment variable, file and host; variables it sees here: none"
        ],
        "a component could do nothing at home"
    );
}

#[test]
fn the_folder_to_write_to_must_be_there() {
    let project = Project::new(CASES[0].1);
    let report = project.imported_for("nowhere").unwrap_err();
    let expected = format!(
        "no such folder to write to: {}",
        project.root().join("nowhere").display()
    );
    assert_eq!(report.problems[0].message, expected);
}

/// A file whose plugin takes things from the environment.
const SECRETS: &str = r#"plugin_dirs: [plugins]
plugins:
- name: a
  kind: my_pkg.A
  hooks: [x]
  config:
    kept: 1
    token: "{{ env.TOKEN }}"
    plain: {{ env.TOKEN }}
    beside: http://{{ env.HOST }}/x
    start: {{ env.HOST }}/x
    end: x/{{ env.HOST }}
    both: "{{ env.HOST }}:{{ env.PORT | default('80') }}"
    given: "{{ env.PORT | default('80') }}"
    text: |
      first
      {{ env.TOKEN }}
      last
    list: [one, "{{ env.TOKEN }}", two]
    items:
    - {{ env.TOKEN }}
    - three
    deep: {in: {token: '{{ env["TOKEN"] }}', kept: 2}}
    # a comment: {{ env.COMMENT }}
    last: 3
"#;

#[test]
fn what_only_the_environment_knows_is_left_out() {
    let project = Project::new(SECRETS);
    let imported = project.imported();
    let file = project.write("hookgate.yaml", &imported.text);
    let again = Config::load(&file).unwrap();
    assert_eq!(
        again.plugins[0].config.as_str(),
        r#"{"kept":1,"given":"80","list":["one","two"],"items":["three"],"deep":{"in":{"kept":2}},"last":3}"#
    );
    let told = notes(&imported);
    let of_templates: Vec<_> = told.iter().filter(|note| note.contains("{{")).collect();
    let out = "left out, since only the environment has a value for it";
    let filled = "filled in as if no variable were set, once and for all";
    let expected = [
        format!("8:a: {out}: {{{{ env.TOKEN }}}}"),
        format!("9:a: {out}: {{{{ env.TOKEN }}}}"),
        format!("10:a: {out}: {{{{ env.HOST }}}}"),
        format!("11:a: {out}: {{{{ env.HOST }}}}"),
        format!("12:a: {out}: {{{{ env.HOST }}}}"),
        format!("13:a: {out}: {{{{ env.HOST }}}}"),
        format!("13:a: {filled}: {{{{ env.PORT | default('80') }}}}"),
        format!("14:a: {filled}: {{{{ env.PORT | default('80') }}}}"),
        format!("17:a: {out}: {{{{ env.TOKEN }}}}"),
        format!("19:a: {out}: {{{{ env.TOKEN }}}}"),
        format!("21:a: {out}: {{{{ env.TOKEN }}}}"),
        format!("23:a: {out}: {{{{ env[\"TOKEN\"] }}}}"),
    ];
    assert_eq!(of_templates, expected.iter().collect::<Vec<_>>());
}

#[test]
fn no_value_of_the_environment_gets_into_the_file() {
    // Set wherever tests run, and long enough not to be there by chance.
    let path = std::env::var("PATH").unwrap();
    let text = "plugin_dirs: [plugins]\nplugins:\n- name: a\n  kind: my_pkg.A\n  hooks: [x]\n  description: \"{{ env.PATH }}\"\n  config: {path: \"{{ env.PATH }}\", other: \"{{ env.PATH | default('none') }}\"}\n";
    let imported = Project::new(text).imported();
    assert!(!imported.text.contains(&path), "{}", imported.text);
    assert!(imported.text.contains("other: none\n"), "{}", imported.text);
    assert!(!imported.report.to_string().contains(&path));
}

#[test]
fn problems_of_the_file_are_its_own() {
    let text = "plugin_dirs: [plugins]\nplugins:\n- {name: a, kind: my_pkg.A, hooks: [x], mode: enforced}\n";
    let project = Project::new(text);
    let report = project.imported_for(".").unwrap_err();
    let problem = &report.problems[0];
    assert_eq!(problem.message, "unknown mode: enforced");
    assert_eq!((problem.line, problem.plugin.as_deref()), (3, Some("a")));
    assert_eq!(problem.file, project.config().display().to_string());
}

#[test]
fn what_our_shape_would_read_as_something_else_is_a_problem() {
    let text = "plugin_dirs: [plugins]\nplugins:\n- name: a\n  kind: my_pkg.A\n  hooks: [x]\n  config: {text: \"{% raw %}{{ env.X }}{% endraw %}\"}\n";
    let report = Project::new(text).imported_for(".").unwrap_err();
    assert_eq!(report.problems.len(), 1, "{report}");
    let problem = &report.problems[0];
    assert!(
        problem
            .message
            .starts_with("cannot be said in hookgate's own shape: "),
        "{report}"
    );
    assert_eq!((problem.line, problem.plugin.as_deref()), (3, Some("a")));
}

#[test]
fn conditions_that_share_nothing_with_their_group_are_left_out_with_their_plugin() {
    let text = "plugin_dirs: [plugins]
plugins:
- {name: a, kind: my_pkg.A, hooks: [tool_pre_invoke], conditions: [{tools: [b]}]}
- {name: c, kind: my_pkg.A, hooks: [tool_pre_invoke]}
groups: [{name: g, plugins: [a, c], conditions: [{tools: [a]}]}]
";
    let imported = Project::new(text).imported();
    assert_eq!(imported.plugins, 1);
    assert!(!imported.text.contains("name: a"), "{}", imported.text);
    let expected =
        "3:a: left out: its conditions and those of its group cannot be written as one list";
    assert!(
        notes(&imported).contains(&expected.to_owned()),
        "{:#?}",
        notes(&imported)
    );
}

#[test]
fn a_whole_gateways_configuration_is_imported() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/legacy/data/gateway/plugins/config.yaml");
    let options = ReadOptions::new(Shape::Legacy).environment(Environment::new(|_| None));
    let loaded = Config::load_with(&file, &options).unwrap_or_else(|report| panic!("{report}"));
    assert!(loaded.plugins.len() > 10);
    let folder = TempDir::new().unwrap();
    let target = folder.path().canonicalize().unwrap();
    let imported =
        Imported::load(&file, Shape::Auto, &target).unwrap_or_else(|report| panic!("{report}"));
    fs::write(target.join("hookgate.yaml"), &imported.text).unwrap();
    let again =
        Config::load(&target.join("hookgate.yaml")).unwrap_or_else(|report| panic!("{report}"));
    let told = notes(&imported);
    let left_out = |name: &str| {
        told.iter()
            .any(|note| note.contains(&format!(":{name}: left out: ")))
    };
    let kept = loaded.plugins.iter().filter(|spec| !left_out(&spec.name));
    let names: Vec<_> = kept.clone().map(|spec| &spec.name).collect();
    assert_eq!(
        again
            .plugins
            .iter()
            .map(|spec| &spec.name)
            .collect::<Vec<_>>(),
        names
    );
    for (spec, again) in kept.zip(&again.plugins) {
        // What no variable gives a value for is left out of the settings, and told.
        let lines = || {
            told.iter()
                .filter(|note| note.contains(&format!(":{}: left out, since only", spec.name)))
        };
        if lines().next().is_none() {
            assert_eq!(comparable(again), comparable(spec), "{}", imported.text);
        }
    }
}
