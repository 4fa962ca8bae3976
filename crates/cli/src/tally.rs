//! [`Tally`]: what each plugin answered, and how fast, counted from decision records.

use std::collections::HashMap;

use hookgate::{PluginRecord, PluginStatus, RecordedVerdict};
use serde::Serialize;

use crate::table::Table;
use crate::units::{duration, thousands};

/// Counts per plugin, in the order of the configuration.
#[derive(Default)]
pub struct Tally {
    plugins: Vec<Counts>,
    by_name: HashMap<String, usize>,
}

#[derive(Default)]
struct Counts {
    name: String,
    host: &'static str,
    calls: u64,
    allowed: u64,
    modified: u64,
    asked: u64,
    denied: u64,
    faults: u64,
    durations: Durations,
}

/// One plugin's line, as `--summary` writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PluginSummary {
    /// Its entry's name.
    pub name: String,
    /// Its host.
    pub host: &'static str,
    /// Questions it was asked.
    pub calls: u64,
    /// Allowed, unchanged.
    pub allowed: u64,
    /// Allowed with edits.
    pub modified: u64,
    /// Left to a person.
    pub asked: u64,
    /// Denied.
    pub denied: u64,
    /// Not answered.
    pub faults: u64,
    /// Half of the calls took at most so long, waiting included.
    pub p50_us: u64,
    /// 99 of 100 calls took at most so long.
    pub p99_us: u64,
}

impl Tally {
    /// Begins with these plugins, so that one nobody asked is seen too.
    pub fn expect(&mut self, plugins: &[PluginStatus]) {
        for plugin in plugins {
            self.counts(&plugin.name, plugin.info.kind);
        }
    }

    /// Counts one plugin's part in an outcome.
    pub fn add(&mut self, record: &PluginRecord) {
        // What it answers later is a record of its own, and counted then.
        if record.verdict == Some(RecordedVerdict::Background) {
            return;
        }
        let counts = self.counts(&record.name, record.kind);
        counts.calls += 1;
        counts.durations.add(record.duration_us);
        match (record.fault, record.verdict) {
            (Some(_), _) => counts.faults += 1,
            (None, Some(RecordedVerdict::Allow)) if record.edits.is_empty() => counts.allowed += 1,
            (None, Some(RecordedVerdict::Allow)) => counts.modified += 1,
            (None, Some(RecordedVerdict::Ask)) => counts.asked += 1,
            (None, Some(RecordedVerdict::Deny)) => counts.denied += 1,
            // Cancelled: asked, and not answered through no fault of its own.
            (None, _) => {}
        }
    }

    fn counts(&mut self, name: &str, host: &'static str) -> &mut Counts {
        let index = self.by_name.get(name).copied().unwrap_or_else(|| {
            self.plugins.push(Counts {
                name: name.to_owned(),
                host,
                ..Counts::default()
            });
            self.by_name.insert(name.to_owned(), self.plugins.len() - 1);
            self.plugins.len() - 1
        });
        &mut self.plugins[index]
    }

    /// What was counted so far.
    pub fn summary(&self) -> Vec<PluginSummary> {
        let summary = |counts: &Counts| PluginSummary {
            name: counts.name.clone(),
            host: counts.host,
            calls: counts.calls,
            allowed: counts.allowed,
            modified: counts.modified,
            asked: counts.asked,
            denied: counts.denied,
            faults: counts.faults,
            p50_us: counts.durations.percentile(50),
            p99_us: counts.durations.percentile(99),
        };
        self.plugins.iter().map(summary).collect()
    }
}

/// The table of plugins, for people.
pub fn table(plugins: &[PluginSummary]) -> Table {
    let mut table = Table::new(&[
        "plugin",
        "host",
        "#calls",
        "#allowed",
        "#modified",
        "#asked",
        "#denied",
        "#faults",
        "#p50",
        "#p99",
    ]);
    for plugin in plugins {
        let counts = [
            plugin.calls,
            plugin.allowed,
            plugin.modified,
            plugin.asked,
            plugin.denied,
            plugin.faults,
        ];
        let mut row = vec![plugin.name.clone(), plugin.host.to_owned()];
        row.extend(counts.map(thousands));
        row.extend([plugin.p50_us, plugin.p99_us].map(duration));
        table.row(row);
    }
    table
}

/// Steps between two powers of two: a percentile is at most 1/32 above the real one.
const STEPS: u64 = 32;

/// Durations in buckets that grow with them, so that a run of any length takes the same memory.
#[derive(Default)]
struct Durations {
    buckets: Vec<u64>,
    total: u64,
}

impl Durations {
    fn add(&mut self, microseconds: u64) {
        let bucket = bucket(microseconds);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.total += 1;
    }

    /// The upper end of the bucket that the percentile falls into; 0 without calls.
    fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.total * percent).div_ceil(100);
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= rank && rank > 0
        };
        self.buckets.iter().position(reached).map_or(0, upper_end)
    }
}

fn bucket(value: u64) -> usize {
    let exponent = (value / STEPS)
        .checked_ilog2()
        .map_or(0, |log| u64::from(log) + 1);
    let shift = exponent.saturating_sub(1);
    (exponent * STEPS + ((value >> shift) % STEPS)) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let (exponent, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    if exponent == 0 {
        return step;
    }
    let shift = exponent - 1;
    ((STEPS + step) << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_never_off_by_more_than_a_step() {
        let mut last = 0;
        for value in (0..100_000_u64).chain([u64::from(u32::MAX), 1 << 40]) {
            let (bucket, upper) = (bucket(value), upper_end(bucket(value)));
            assert!(bucket >= last, "{value}");
            assert!(
                upper >= value && upper - value <= value / STEPS,
                "{value}: {upper}"
            );
            last = bucket;
        }
    }

    #[test]
    fn percentiles_of_known_durations() {
        let mut durations = Durations::default();
        assert_eq!(durations.percentile(99), 0);
        (1..=100).for_each(|value| durations.add(if value == 100 { 20_000 } else { 10 }));
        assert_eq!(
            (durations.percentile(50), durations.percentile(99)),
            (10, 10)
        );
        assert!((20_000..=20_625).contains(&durations.percentile(100)));
    }
}
