//! Running vectors.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};
use hookgate_core::{Engine, Host, Outcome};

use crate::canonical::{self, first_difference};
use crate::kind::Kind;
use crate::suite::{Expected, SetupEntry, Step, Suite};

/// A step whose outcome is not the expected one.
#[derive(Debug, Clone)]
pub struct Difference {
    /// `vector#step`.
    pub step: String,
    /// Where the two differ first.
    pub what: String,
}

/// What came of running a suite.
#[derive(Debug, Clone)]
pub struct Report {
    /// The kind it ran on.
    pub kind: Kind,
    /// How many steps were asked.
    pub steps: usize,
    /// The steps that differ.
    pub differences: Vec<Difference>,
}

/// An engine under test, from the name of its setup.
pub trait Setup {
    /// The kind of its plugins.
    fn kind(&self) -> Kind;

    /// How many setups may be there at once. More only where waiting is all that takes time: what a
    /// vector says about time must not come to be about the others.
    fn setups_at_once(&self) -> usize {
        1
    }

    /// Builds the engine of a setup.
    fn engine(&self, suite: &Suite, setup: &str) -> impl Future<Output = Engine>;
}

/// The kind with a host that loads it.
impl Setup for (Kind, Arc<dyn Host>) {
    fn kind(&self) -> Kind {
        self.0
    }

    async fn engine(&self, suite: &Suite, setup: &str) -> Engine {
        let builder = Engine::builder()
            .config(self.0.config(suite, setup))
            .host(Arc::clone(&self.1));
        builder
            .build()
            .await
            .unwrap_or_else(|report| panic!("setup {setup} does not load\n{report}"))
    }
}

impl Suite {
    /// Runs every vector its kind can do, setup by setup, and lists what differs.
    pub async fn run(&self, under_test: &impl Setup) -> Report {
        let setups = self.setups.keys();
        let setups = setups.map(|setup| self.run_setup(under_test, setup));
        let reports = stream::iter(setups).buffered(under_test.setups_at_once());
        let reports: Vec<Report> = reports.collect().await;
        let nothing = Report::new(under_test.kind());
        reports.into_iter().fold(nothing, |mut sum, one| {
            sum.steps += one.steps;
            sum.differences.extend(one.differences);
            sum
        })
    }

    async fn run_setup(&self, under_test: &impl Setup, setup: &str) -> Report {
        let kind = under_test.kind();
        let mut report = Report::new(kind);
        let vectors = self.vectors.iter().filter(|vector| vector.setup == setup);
        let mut vectors = vectors.filter(|vector| vector.is_for(kind)).peekable();
        if vectors.peek().is_none() {
            return report;
        }
        let engine = under_test.engine(self, setup).await;
        for vector in vectors {
            // What `on_error: disable` takes out is out within a vector.
            for plugin in engine.plugins() {
                engine.enable(&plugin.name);
            }
            for (index, step) in vector.steps.iter().enumerate() {
                report.steps += 1;
                if let Some(what) = check(&engine, step).await {
                    report.differences.push(Difference {
                        step: format!("{}#{index}", vector.name),
                        what,
                    });
                }
            }
        }
        engine.shutdown().await;
        report
    }

    /// A setup by its name.
    ///
    /// # Panics
    ///
    /// If there is none of that name.
    #[must_use]
    pub fn setup(&self, name: &str) -> &SetupEntry {
        let setup = self.setups.get(name);
        setup.unwrap_or_else(|| panic!("no setup {name}"))
    }
}

async fn check(engine: &Engine, step: &Step) -> Option<String> {
    let found = engine
        .invoke(&step.hook, step.payload.as_str(), &step.request)
        .await;
    match (&step.expected, found) {
        (Expected::Error(expected), Err(error)) if error.code() == expected => None,
        (Expected::Error(expected), Err(error)) => {
            Some(format!("expected error {expected}, found {error}"))
        }
        (Expected::Error(expected), Ok(outcome)) => Some(format!(
            "expected error {expected}, found {}",
            outcome.decision
        )),
        (Expected::Outcome(_), Err(error)) => Some(format!("expected an outcome, found {error}")),
        (Expected::Outcome(expected), Ok(outcome)) => differs(expected, &outcome),
    }
}

fn differs(expected: &serde_json::Value, outcome: &Outcome) -> Option<String> {
    let expected = canonical::expected(expected.clone(), outcome);
    let found = first_difference(&expected, &canonical::outcome(outcome));
    found.map(|what| {
        let faults = outcome
            .faults
            .iter()
            .map(|fault| format!("; {}: {}", fault.kind, fault.message));
        format!("{what}{}", faults.collect::<String>())
    })
}

impl Report {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            steps: 0,
            differences: Vec::new(),
        }
    }

    /// The names of the vectors with a step that differs.
    #[must_use]
    pub fn caught(&self) -> BTreeSet<String> {
        let steps = self.differences.iter().map(|difference| &difference.step);
        steps
            .filter_map(|step| step.split('#').next().map(str::to_owned))
            .collect()
    }

    /// Fails a test with every difference, and if not as many steps were asked as `make.py` counted
    /// for the kind.
    ///
    /// # Panics
    ///
    /// Then.
    pub fn assert_all_of(&self, suite: &Suite) {
        let Self {
            kind,
            steps,
            differences,
        } = self;
        let lines = differences
            .iter()
            .map(|difference| format!("{}: {}", difference.step, difference.what));
        assert!(
            differences.is_empty(),
            "{} of {steps} steps differ on {kind:?}\n{}",
            differences.len(),
            lines.collect::<Vec<_>>().join("\n")
        );
        assert_eq!(
            Some(steps),
            suite.steps.get(kind),
            "steps run on {kind:?}, and as tests/vectors/index.json has them"
        );
    }
}
