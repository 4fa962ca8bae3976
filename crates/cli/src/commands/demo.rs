//! `hookgate demo`: recorded calls through the demonstration chain, every outcome compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use hookgate::{Engine, Outcome};
use indicatif::ProgressBar;

use super::Status;
use super::run::{Input, Summary, Totals};
use crate::arguments::{Format, ShapeArgument};
use crate::records::Records;
use crate::setup;
use crate::stream::{self, Answered, Consumer, Settings};
use crate::terminal::Terminal;
use crate::units::thousands;

mod expected;
mod pair;
mod report;

use expected::{Expectations, Mismatch};
use report::{Part, Report};

/// Calls at once: what the Python plugins take by default.
const JOBS: usize = 32;

/// Arguments of `hookgate demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// The demonstration chain.
    #[arg(long, value_name = "FILE", default_value = "examples/demo.yaml")]
    config: PathBuf,
    /// Real calls.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "tests/data/bfcl-tool-calls.jsonl"
    )]
    calls: PathBuf,
    /// Their recorded outcomes; a call that is not listed is an unchanged allow.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "tests/data/bfcl-expected.jsonl"
    )]
    expected: PathBuf,
    /// Labelled calls.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "tests/data/labelled-calls.jsonl"
    )]
    labelled: PathBuf,
    /// Their recorded outcomes.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "tests/data/labelled-expected.jsonl"
    )]
    labelled_expected: PathBuf,
    /// A configuration with the same policy twice, as a component and as a Python class.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "examples/side-by-side.yaml"
    )]
    side_by_side: PathBuf,
    /// Append decision records to this file.
    #[arg(long, value_name = "FILE", default_value = "target/demo-records.jsonl")]
    records: PathBuf,
    #[command(flatten)]
    shape: ShapeArgument,
}

/// Runs the demonstration.
pub async fn demo(
    arguments: DemoArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = setup::config(&arguments.config, arguments.shape)?;
    let side_by_side = setup::config(&arguments.side_by_side, arguments.shape)?;
    let real = Expectations::load(&arguments.expected)?;
    let labelled = Expectations::load(&arguments.labelled_expected)?;
    let records = Arc::new(Records::open(Some(&arguments.records))?);
    let settings = Settings {
        jobs: JOBS,
        max_payload_bytes: config.max_payload_bytes,
    };
    let engine = setup::engine(config, Some(records.clone()), false, terminal).await?;

    let runner = Runner {
        engine: &engine,
        records: &records,
        settings,
        terminal,
    };
    let real = runner.part("real calls", &arguments.calls, real).await;
    let labelled = match &real {
        Ok(_) => Some(
            runner
                .part("labelled calls", &arguments.labelled, labelled)
                .await,
        ),
        Err(_) => None,
    };
    engine.shutdown().await;
    records.finish()?;
    let mut parts = vec![real?];
    parts.extend(labelled.transpose()?);
    let pair = pair::ask(side_by_side, terminal).await?;
    let report = Report::new(parts, pair, arguments.config, arguments.records);
    report.print(format)?;
    Ok(if report.passed() {
        Status::Done
    } else {
        Status::Failed
    })
}

struct Runner<'a> {
    engine: &'a Engine,
    records: &'a Records,
    settings: Settings,
    terminal: &'a Terminal,
}

impl Runner<'_> {
    /// Runs the calls of one file.
    async fn part(
        &self,
        title: &'static str,
        calls: &Path,
        expectations: Expectations,
    ) -> anyhow::Result<Part> {
        let input = Input::open(calls)?;
        let bar = self.terminal.bar(input.bytes);
        self.records.begin(&self.engine.plugins());
        let mut comparison = Comparison {
            expectations,
            bar,
            totals: Totals::default(),
            mismatches: Vec::new(),
            denial: None,
        };
        let started = Instant::now();
        let streamed =
            stream::answer(self.engine, input.reader, &self.settings, &mut comparison).await;
        let elapsed = started.elapsed();
        comparison.bar.finish_and_clear();
        streamed.with_context(|| format!("{title} of {}", input.name))?;
        let Comparison {
            expectations,
            totals,
            mut mismatches,
            denial,
            ..
        } = comparison;
        mismatches.extend(expectations.unseen());
        let summary = Summary::new(totals, elapsed, self.records.summary());
        Ok(Part {
            title,
            summary,
            mismatches,
            denial,
        })
    }
}

/// Compares every outcome with the recorded one.
struct Comparison {
    expectations: Expectations,
    bar: ProgressBar,
    totals: Totals,
    mismatches: Vec<Mismatch>,
    denial: Option<Outcome>,
}

impl Consumer for Comparison {
    fn take(&mut self, answered: Answered) -> anyhow::Result<()> {
        self.totals.add(answered.result.as_ref().ok());
        self.bar.inc(answered.consumed);
        self.bar
            .set_message(format!("{} calls", thousands(self.totals.lines())));
        self.mismatches.extend(self.expectations.compare(&answered));
        if let Ok(outcome) = answered.result
            && outcome.violation.is_some()
        {
            self.denial.get_or_insert(outcome);
        }
        Ok(())
    }

    fn idle(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
