//! An environment that the configuration names: used as it is, never written to.

use std::ffi::OsStr;
use std::path::Path;

use hookgate_core::LoadError;

use super::contents::Contents;
use super::{Environment, EnvironmentOrigin};
use crate::interpreter::Interpreter;
use crate::requirements::{Requirements, unmet};

/// The environment at `path`, if its interpreter runs and what is installed meets the requirements. Whether
/// the framework can be imported shows in a worker, where what is installed is confined.
pub(crate) async fn named(
    path: &Path,
    requirements: &Requirements,
    search_path: &OsStr,
) -> Result<Environment, LoadError> {
    let refused = |why: &str| {
        LoadError::new(format!(
            "the environment cannot be used: {}: {why}",
            path.display()
        ))
    };
    let mut environment = Environment {
        path: path.to_owned(),
        python: String::new(),
        origin: EnvironmentOrigin::Named,
    };
    if !environment.executable().exists() {
        let why = if path.exists() {
            "it has no bin/python"
        } else {
            "no such folder"
        };
        return Err(refused(why).hint("name a virtualenv: `python: {environment: DIR}`"));
    }
    let cannot_run = |error: crate::InterpreterError| {
        refused(&error.to_string()).hint("make the virtualenv anew with a Python 3.11 or later")
    };
    let interpreter = Interpreter::probe(&environment.executable(), search_path).await;
    environment.python = interpreter.map_err(cannot_run)?.version;
    if !requirements.given().is_empty() {
        let contents = Contents::of(&environment, search_path)
            .await
            .map_err(cannot_run)?;
        let unmet = unmet(requirements.given(), &contents.packages, &contents.markers);
        if !unmet.is_empty() {
            let why = format!("it does not hold what is required: {}", unmet.join(", "));
            return Err(refused(&why).hint(
                "install it there, or remove `environment` or the requirements from the entry",
            ));
        }
    }
    Ok(environment)
}
