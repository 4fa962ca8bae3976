//! Every cell of the table of modes: what each answer does in each mode, whatever `on_error` is.

use hookgate_core::config::{Mode, OnError};
use hookgate_core::{HookCall, InProcess, Json, Outcome, Record, Request, Suppressed, Violation};
use tokio::sync::mpsc;

use super::cast::{MODES, ask_in, next, recorded};
use crate::support::{Answered, HOOK, allowing, approval, at, json, named, plugin, waiting};

/// Each answer in each mode: the decision and what goes with it, what the plugin behind it is told of,
/// what the record says. A part that is not there is as if nothing had happened.
const CELLS: &str = "
sequential      | allow                | allow; told ls; says allow
sequential      | ask                  | ask; asks why; told ls; says ask
sequential      | deny                 | deny NO; stops; told ls; says deny NO
sequential      | deny bare            | deny denied; stops; told ls; says deny denied
sequential      | allow with violation | allow; suppressed allow NO; told ls; says allow
sequential      | allow + edits        | allow; changed; told ls!; says allow, 1 edit
sequential      | ask + edits          | ask; changed; asks why; told ls!; says ask, 1 edit
sequential      | deny + edits         | deny NO; stops; told ls; says deny NO, 1 edit
sequential      | allow + effects      | allow; effects all; keeps all; told ls; says allow
sequential      | ask + effects        | ask; asks why; effects all; keeps all; told ls; says ask
sequential      | deny + effects       | deny NO; effects all; keeps all; stops; told ls; says deny NO
transform       | allow                | allow; told ls; says allow
transform       | ask                  | allow; suppressed ask why; told ls; says ask
transform       | deny                 | allow; suppressed deny NO; told ls; says deny NO
transform       | deny bare            | allow; suppressed deny denied; told ls; says deny denied
transform       | allow with violation | allow; suppressed allow NO; told ls; says allow
transform       | allow + edits        | allow; changed; told ls!; says allow, 1 edit
transform       | ask + edits          | allow; changed; suppressed ask why; told ls!; says ask, 1 edit
transform       | deny + edits         | allow; suppressed deny NO; told ls; says deny NO, 1 edit
transform       | allow + effects      | allow; effects all; keeps all; told ls; says allow
transform       | ask + effects        | allow; suppressed ask why; effects all; keeps all; told ls; says ask
transform       | deny + effects       | allow; suppressed deny NO; effects all; keeps all; told ls; says deny NO
audit           | allow                | allow; told ls; says allow
audit           | ask                  | allow; suppressed ask why; told ls; says ask
audit           | deny                 | allow; suppressed deny NO; told ls; says deny NO
audit           | deny bare            | allow; suppressed deny denied; told ls; says deny denied
audit           | allow with violation | allow; suppressed allow NO; told ls; says allow
audit           | allow + edits        | allow; told ls; says allow, 1 edit
audit           | ask + edits          | allow; suppressed ask why; told ls; says ask, 1 edit
audit           | deny + edits         | allow; suppressed deny NO; told ls; says deny NO, 1 edit
audit           | allow + effects      | allow; effects metadata; told ls; says allow
audit           | ask + effects        | allow; suppressed ask why; effects metadata; told ls; says ask
audit           | deny + effects       | allow; suppressed deny NO; effects metadata; told ls; says deny NO
concurrent      | allow                | allow; told ls; says allow
concurrent      | ask                  | ask; asks why; told ls; says ask
concurrent      | deny                 | deny NO; told ls; says deny NO
concurrent      | deny bare            | deny denied; told ls; says deny denied
concurrent      | allow with violation | allow; suppressed allow NO; told ls; says allow
concurrent      | allow + edits        | allow; told ls; says allow, 1 edit
concurrent      | ask + edits          | ask; asks why; told ls; says ask, 1 edit
concurrent      | deny + edits         | deny NO; told ls; says deny NO, 1 edit
concurrent      | allow + effects      | allow; effects all; keeps all; told ls; says allow
concurrent      | ask + effects        | ask; asks why; effects all; keeps all; told ls; says ask
concurrent      | deny + effects       | deny NO; effects all; keeps all; told ls; says deny NO
fire_and_forget | allow                | allow; told ls; says background; then allow
fire_and_forget | ask                  | allow; told ls; says background; then ask
fire_and_forget | deny                 | allow; told ls; says background; then deny NO
fire_and_forget | deny bare            | allow; told ls; says background; then deny denied
fire_and_forget | allow with violation | allow; told ls; says background; then allow
fire_and_forget | allow + edits        | allow; told ls; says background; then allow, 1 edit
fire_and_forget | ask + edits          | allow; told ls; says background; then ask, 1 edit
fire_and_forget | deny + edits         | allow; told ls; says background; then deny NO, 1 edit
fire_and_forget | allow + effects      | allow; told ls; says background; then allow
fire_and_forget | ask + effects        | allow; told ls; says background; then ask
fire_and_forget | deny + effects       | allow; told ls; says background; then deny NO
";

#[tokio::test]
async fn every_answer_does_in_every_mode_what_the_table_says() {
    for on_error in [OnError::Fail, OnError::Ignore, OnError::Disable] {
        for [mode, answer, expected] in rows(CELLS) {
            let mode = mode_named(mode);
            let seen = played(mode, on_error, move |call| answered(call, answer)).await;
            assert_eq!(seen, expected, "{mode}, {answer}, on_error: {on_error}");
        }
    }
}

#[test]
fn no_cell_is_missing_and_none_is_there_twice() {
    let mut cells: Vec<_> = rows(CELLS)
        .map(|[mode, answer, _]| (mode, answer))
        .collect();
    let of = |wanted: Mode| {
        cells
            .iter()
            .filter(|(mode, _)| *mode == wanted.as_str())
            .count()
    };
    assert!(MODES.iter().all(|mode| of(*mode) == 11));
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), 55);
}

/// The rows of a table, three columns each.
pub fn rows(table: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = table.lines().filter(|line| !line.is_empty());
    lines.map(|line| {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        columns.try_into().expect("three columns")
    })
}

/// The mode of a row.
pub fn mode_named(name: &str) -> Mode {
    let mode = MODES.into_iter().find(|mode| mode.as_str() == name);
    mode.expect("a mode that runs")
}

/// The answer a cell names.
fn answered(call: &HookCall, answer: &str) -> Answered {
    let (verdict, with) = answer.split_once(" + ").unwrap_or((answer, ""));
    let mut draft = call.draft();
    match with {
        "" => {}
        "edits" => draft
            .set(&at("/args/cmd"), json("\"ls!\""))
            .expect("a member"),
        "effects" => every_effect(&mut draft),
        other => panic!("{other}"),
    }
    let violation = Violation::new("NO", "no");
    Ok(match verdict {
        "allow" => draft.allow(),
        "ask" => draft.ask(approval("why")),
        "deny" => draft.deny(violation),
        "deny bare" => draft.deny(Violation::denied()),
        "allow with violation" => draft.allow().with_suppressed(violation),
        other => panic!("{other}"),
    })
}

/// One of each effect there is.
pub fn every_effect(draft: &mut hookgate_core::Draft) {
    let one = || json("1");
    draft.annotate("mark", one()).expect("little");
    draft.set_header("X-A", "1").expect("a header");
    draft.set_retry_ms(5);
    draft.set_result(one()).expect("little");
    draft
        .set_extension("custom", json(r#"{"a":1}"#))
        .expect("anybody's");
    draft.set_state("k", Some(one())).expect("little");
    draft.set_shared("k", Some(one())).expect("little");
    draft
        .set_request_metadata("k", Some(one()))
        .expect("little");
}

/// Lets a plugin answer in a mode, with a `concurrent` plugin behind it and one that is told, and says
/// what came of it.
pub async fn played(
    mode: Mode,
    on_error: OnError,
    answer: impl Fn(&HookCall) -> Answered + Send + Sync + 'static,
) -> String {
    let (kept, mut keeps) = mpsc::unbounded_channel();
    let played = waiting(false, move |call| {
        if &*call.hook == "probe" {
            kept.send(state_of(&call)).expect("the test waits");
            return Box::pin(async move { Ok(call.draft().allow()) });
        }
        let answered = answer(&call);
        Box::pin(async move { answered })
    });
    let entry = named("p", played).hooks([HOOK, "probe"]);
    seen(entry.mode(mode).on_error(on_error), mode, &mut keeps).await
}

/// What came of asking an engine of this plugin.
pub async fn seen(
    entry: InProcess,
    mode: Mode,
    keeps: &mut mpsc::UnboundedReceiver<Vec<&'static str>>,
) -> String {
    let (tell, mut told) = mpsc::unbounded_channel();
    let told_plugin = plugin(move |call| {
        let cmd = call.payload.get_string(&at("/args/cmd"));
        let cmd = cmd.expect("a string").into_owned();
        tell.send(cmd).expect("the test waits");
        Ok(call.draft().allow())
    });
    let behind = allowing();
    let mut plugins = vec![named("told", told_plugin).mode(Mode::FireAndForget), entry];
    // A sibling is not behind it.
    if mode != Mode::Concurrent {
        plugins.push(named("behind", behind.clone()).mode(Mode::Concurrent));
    }
    let (engine, records) = recorded(plugins).await;
    let outcome = ask_in(&engine, "r").await;
    let expected = 2 + usize::from(mode == Mode::FireAndForget);
    let records = records.wait(expected).await;
    let told = next(&mut told).await;
    let off = engine.plugins().iter().any(|status| status.disabled);
    engine.enable("p");
    let probed = engine.invoke("probe", "{}", &Request::with_id("r")).await;
    probed.expect("an object");
    let kept = next(keeps).await;
    let stops = mode != Mode::Concurrent && behind.calls() == 0;

    let mut seen = decided(&outcome);
    seen.extend((!kept.is_empty()).then(|| format!("keeps {}", list(&kept, 3))));
    seen.extend(stops.then(|| "stops".to_owned()));
    seen.push(format!("told {told}"));
    let first = records.iter().find(|record| record.of.is_none());
    seen.push(format!("says {}", part(first.expect("one"))));
    let mut others = records.iter().filter(|record| record.of.is_some());
    let then = others.find(|record| &*record.plugins[0].name == "p");
    seen.extend(then.map(|record| format!("then {}", part(record))));
    seen.extend(off.then(|| "off".to_owned()));
    seen.join("; ")
}

/// What an outcome says, in words.
fn decided(outcome: &Outcome) -> Vec<String> {
    let code = outcome.violation.as_ref().map(|violation| &violation.code);
    let mut words = vec![match code {
        Some(code) => format!("{} {code}", outcome.decision),
        None => outcome.decision.to_string(),
    }];
    words.extend(outcome.modified.then(|| "changed".to_owned()));
    let approvals = outcome.approvals.iter();
    words.extend(approvals.map(|approval| format!("asks {}", approval.reason)));
    words.extend(outcome.suppressed.iter().map(suppressed));
    let faults = outcome.faults.iter();
    words.extend(faults.map(|fault| format!("faults {}", fault.kind)));
    let effects = &outcome.effects;
    let there = [
        ("metadata", !effects.metadata.is_empty()),
        ("headers", !effects.headers.is_empty()),
        ("retry", effects.retry_after_ms.is_some()),
        ("result", effects.result.is_some()),
        ("extensions", !effects.extensions.is_empty()),
    ];
    let there = there.into_iter().filter(|(_, there)| *there);
    let there: Vec<_> = there.map(|(name, _)| name).collect();
    words.extend((!there.is_empty()).then(|| format!("effects {}", list(&there, 5))));
    words
}

fn suppressed(suppressed: &Suppressed) -> String {
    let code = suppressed.violation.as_ref().map(|it| it.code.as_str());
    let reason = suppressed.approval.as_ref().map(|it| it.reason.as_str());
    let what: Vec<_> = code.into_iter().chain(reason).collect();
    format!("suppressed {} {}", suppressed.verdict, what.join(" "))
}

fn list(names: &[&str], all: usize) -> String {
    if names.len() == all {
        return "all".to_owned();
    }
    names.join(" ")
}

/// What a record says of `p`.
fn part(record: &Record) -> String {
    let part = record.plugins.iter().find(|part| &*part.name == "p");
    let part = part.expect("it was asked");
    let verdict = part.verdict.map(|verdict| verdict.to_string());
    let fault = part.fault.map(|fault| fault.to_string());
    let words: Vec<_> = [verdict, part.code.clone(), fault]
        .into_iter()
        .flatten()
        .collect();
    let edits = match part.edits.len() {
        0 => String::new(),
        edits => format!(", {edits} edit"),
    };
    format!("{}{edits}", words.join(" "))
}

/// The kinds of state a plugin finds under the key `k`.
fn state_of(call: &HookCall) -> Vec<&'static str> {
    let found = [
        ("private", call.request.private().get("k")),
        ("shared", call.request.shared().get("k")),
        ("request", call.request.metadata().get("k")),
    ];
    let one = |value: Option<&Json>| value.is_some_and(|value| value.as_str() == "1");
    let found = found.into_iter().filter(|(_, value)| one(*value));
    found.map(|(name, _)| name).collect()
}
