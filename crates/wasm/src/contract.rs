//! Which hook goes to which exported function, and what a component must and may not export.

use hookgate_core::LoadError;
use semver::Version;
use wasmtime::Engine;
use wasmtime::component::{Component, ComponentExportIndex};

/// The package this engine speaks.
const PACKAGE: &str = "hookgate:plugin";
/// The version of `wit/plugin.wit`. Within 0.1 exported signatures never change.
pub(crate) const VERSION: Version = Version::new(0, 1, 0);
/// What a component may export under [`PACKAGE`].
const EXPORTS: [&str; 6] = [
    "lifecycle",
    "tools",
    "prompts",
    "resources",
    "agents",
    "custom",
];
/// What a component may import under [`PACKAGE`].
const IMPORTS: [&str; 4] = ["types", "call", "log", "secrets"];

/// Interface and function that answer a hook.
fn target(hook: &str) -> (&'static str, &'static str) {
    match hook {
        "tool_pre_invoke" => ("tools", "pre-invoke"),
        "tool_post_invoke" => ("tools", "post-invoke"),
        "prompt_pre_fetch" => ("prompts", "pre-fetch"),
        "prompt_post_fetch" => ("prompts", "post-fetch"),
        "resource_pre_fetch" => ("resources", "pre-fetch"),
        "resource_post_fetch" => ("resources", "post-fetch"),
        "agent_pre_invoke" => ("agents", "pre-invoke"),
        "agent_post_invoke" => ("agents", "post-invoke"),
        _ => ("custom", "invoke"),
    }
}

/// What a component exports of the contract.
#[derive(Debug)]
pub(crate) struct Exports {
    found: Vec<(&'static str, ComponentExportIndex)>,
    imports_wasi: bool,
}

impl Exports {
    /// Looks at every export and import of `component` that is of our package.
    pub(crate) fn of(component: &Component, engine: &Engine) -> Result<Self, LoadError> {
        let types = component.component_type();
        let mut imports_wasi = false;
        let mut spoken = None;
        for (name, _) in types.imports(engine) {
            imports_wasi |= name.starts_with("wasi:");
            if let Some(interface) = ours(name) {
                let interface = interface?;
                interface.same_version(&mut spoken)?;
                interface.one_of("imports", &IMPORTS)?;
            }
        }
        let mut found: Vec<(&'static str, ComponentExportIndex)> = Vec::new();
        for (name, _) in types.exports(engine) {
            let Some(interface) = ours(name) else {
                continue;
            };
            let interface = interface?;
            interface.same_version(&mut spoken)?;
            let interface = interface.one_of("exports", &EXPORTS)?;
            if found.iter().any(|(other, _)| *other == interface) {
                return Err(LoadError::new(format!(
                    "the component exports {PACKAGE}/{interface} twice"
                )));
            }
            if let Some(index) = component.get_export_index(None, name) {
                found.push((interface, index));
            }
        }
        if found.iter().all(|(interface, _)| *interface == "lifecycle") {
            return Err(LoadError::new(format!(
                "the component exports no hook interface of {PACKAGE}@{VERSION}"
            ))
            .hint("build it for one of the worlds of wit/plugin.wit, such as `tool-policy`"));
        }
        Ok(Self {
            found,
            imports_wasi,
        })
    }

    /// The function that answers `hook`; none where the component does not export its interface.
    pub(crate) fn hook(&self, component: &Component, hook: &str) -> Option<ComponentExportIndex> {
        let (interface, function) = target(hook);
        self.function(component, interface, function)
    }

    /// `lifecycle.init`, where it is exported.
    pub(crate) fn init(&self, component: &Component) -> Option<ComponentExportIndex> {
        self.function(component, "lifecycle", "init")
    }

    /// Whether the component may call the system.
    pub(crate) fn imports_wasi(&self) -> bool {
        self.imports_wasi
    }

    /// The hook interfaces the component has, for messages.
    pub(crate) fn interfaces(&self) -> String {
        let names = self
            .found
            .iter()
            .map(|(interface, _)| *interface)
            .filter(|name| *name != "lifecycle");
        names.collect::<Vec<_>>().join(", ")
    }

    fn function(
        &self,
        component: &Component,
        interface: &str,
        function: &str,
    ) -> Option<ComponentExportIndex> {
        let (_, instance) = self.found.iter().find(|(name, _)| *name == interface)?;
        component.get_export_index(Some(instance), function)
    }
}

/// Which import is not there, by interface and function, and what is the matter with it. wasmtime quotes the
/// names on the way down to the cause, which names nothing itself.
pub(crate) fn unmet(error: &wasmtime::Error) -> String {
    let chain = format!("{error:#}");
    let names: Vec<_> = chain.split('`').skip(1).step_by(2).collect();
    format!("{} ({})", names.join(" "), error.root_cause())
}

/// The interface a configured hook needs, for messages.
pub(crate) fn interface_of(hook: &str) -> &'static str {
    target(hook).0
}

/// An interface name of our package, its version already found to be compatible.
struct Interface<'a> {
    name: &'a str,
    version: Version,
}

impl Interface<'_> {
    /// A component is built against one text of the contract: two versions are two builds put together.
    fn same_version(&self, spoken: &mut Option<Version>) -> Result<(), LoadError> {
        let spoken = spoken.get_or_insert_with(|| self.version.clone());
        if *spoken == self.version {
            return Ok(());
        }
        Err(LoadError::new(format!(
            "the component speaks two versions of {PACKAGE}: {spoken} and {} ({})",
            self.version, self.name
        ))
        .hint("build all of it against one wit/plugin.wit"))
    }

    fn one_of(self, verb: &str, known: &[&'static str]) -> Result<&'static str, LoadError> {
        known
            .iter()
            .find(|name| **name == self.name)
            .copied()
            .ok_or_else(|| {
                LoadError::new(format!(
                    "the component {verb} {PACKAGE}/{}, which this engine does not know",
                    self.name
                ))
                .hint(format!("it knows {}", known.join(", ")))
            })
    }
}

/// Reads `hookgate:plugin/tools@0.1.0`; none for names of other packages.
fn ours(name: &str) -> Option<Result<Interface<'_>, LoadError>> {
    let rest = name.strip_prefix(PACKAGE)?.strip_prefix('/')?;
    let (interface, version) = rest.split_once('@').unwrap_or((rest, ""));
    Some(match Version::parse(version) {
        Ok(found)
            if (found.major, found.minor) == (VERSION.major, VERSION.minor)
                && found.pre.is_empty() =>
        {
            Ok(Interface {
                name: interface,
                version: found,
            })
        }
        Ok(found) => Err(LoadError::new(format!(
            "the component speaks {PACKAGE}@{found}; this engine speaks {PACKAGE}@{VERSION}"
        ))
        .hint(format!(
            "rebuild the plugin against wit/plugin.wit {VERSION} (any {}.{}.x will do)",
            VERSION.major, VERSION.minor
        ))),
        Err(_) => Err(
            LoadError::new(format!("not a version the engine can read: {name}")).hint(format!(
                "interfaces of the contract are named like {PACKAGE}/tools@{VERSION}"
            )),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports(first: &str, second: &str) -> Result<Exports, LoadError> {
        let text = format!(
            r#"(component
                (import "hookgate:plugin/types@{first}" (instance))
                (import "wasi:io/poll@0.2.0" (instance))
                (component $C)
                (instance $tools (instantiate $C))
                (export "hookgate:plugin/tools@{second}" (instance $tools)))"#
        );
        let engine = Engine::default();
        let component = Component::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        Exports::of(&component, &engine)
    }

    #[test]
    fn a_component_speaks_one_version() {
        assert!(exports("0.1.0", "0.1.0").is_ok());
        assert!(exports("0.1.9", "0.1.9").is_ok());
        let error = exports("0.1.0", "0.1.9").unwrap_err();
        assert_eq!(
            error.message,
            "the component speaks two versions of hookgate:plugin: 0.1.0 and 0.1.9 (tools)"
        );
        assert_eq!(
            error.hint.as_deref(),
            Some("build all of it against one wit/plugin.wit")
        );
    }
}
