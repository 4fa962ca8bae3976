//! The template engine with the filters, methods and tests that legacy files may use, no more: what
//! is unknown at home is unknown here.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, UndefinedBehavior, filters, functions, tests};

use super::python;

/// Steps a template may take: some thousand times what a long file needs, and still over at once.
const FUEL_STEPS: u64 = 10_000_000;

/// An engine that knows what the framework's does.
pub(super) fn engine() -> minijinja::Environment<'static> {
    let mut engine = minijinja::Environment::empty();
    engine.set_debug(false);
    engine.set_fuel(Some(FUEL_STEPS));
    engine.set_undefined_behavior(UndefinedBehavior::Lenient);
    engine.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    engine.set_unknown_method_callback(|_, value, method, args| string_method(value, method, args));
    add_filters(&mut engine);
    add_tests(&mut engine);
    engine.add_function("range", functions::range);
    engine.add_function("dict", functions::dict);
    engine.add_function("namespace", functions::namespace);
    engine
}

/// Names of every filter, for messages.
pub(super) const FILTERS: [&str; 32] = [
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "e",
    "escape",
    "first",
    "float",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "sort",
    "string",
    "title",
    "tojson",
    "trim",
    "upper",
];

fn add_filters(engine: &mut minijinja::Environment<'_>) {
    engine.add_filter("abs", filters::abs);
    engine.add_filter("count", filters::length);
    engine.add_filter("d", filters::default);
    engine.add_filter("default", filters::default);
    engine.add_filter("first", filters::first);
    engine.add_filter("indent", filters::indent);
    engine.add_filter("items", filters::items);
    engine.add_filter("join", join);
    engine.add_filter("last", filters::last);
    engine.add_filter("length", filters::length);
    engine.add_filter("list", filters::list);
    engine.add_filter("map", filters::map);
    engine.add_filter("max", filters::max);
    engine.add_filter("min", filters::min);
    engine.add_filter("reject", filters::reject);
    engine.add_filter("reverse", filters::reverse);
    engine.add_filter("round", filters::round);
    engine.add_filter("safe", filters::safe);
    engine.add_filter("select", filters::select);
    engine.add_filter("sort", filters::sort);
    engine.add_filter("int", int);
    engine.add_filter("float", float);
    engine.add_filter("tojson", |value: &Value| {
        python::json(value).map(Value::from_safe_string)
    });
    for name in ["e", "escape"] {
        engine.add_filter(name, |value: &Value| {
            let text = python::text(value)?;
            let safe = if value.is_safe() {
                text
            } else {
                python::escaped(&text)
            };
            Ok::<_, Error>(Value::from_safe_string(safe))
        });
    }
    engine.add_filter("string", |value: &Value| changed(value, str::to_owned));
    engine.add_filter("lower", |value: &Value| changed(value, str::to_lowercase));
    engine.add_filter("upper", |value: &Value| changed(value, str::to_uppercase));
    engine.add_filter("capitalize", |value: &Value| changed(value, capitalized));
    engine.add_filter("title", |value: &Value| changed(value, title));
    engine.add_filter("trim", |value: &Value, chars: Option<String>| {
        changed(value, |text| stripped(text, chars.as_deref(), true, true))
    });
    engine.add_filter(
        "replace",
        |value: &Value, old: String, new: String, count: Option<usize>| {
            changed(value, |text| replaced(text, &old, &new, count))
        },
    );
}

fn add_tests(engine: &mut minijinja::Environment<'_>) {
    engine.add_test("defined", tests::is_defined);
    engine.add_test("undefined", tests::is_undefined);
    engine.add_test("none", tests::is_none);
    engine.add_test("string", tests::is_string);
    engine.add_test("number", tests::is_number);
    engine.add_test("integer", tests::is_integer);
    engine.add_test("float", tests::is_float);
    engine.add_test("boolean", tests::is_boolean);
    engine.add_test("true", tests::is_true);
    engine.add_test("false", tests::is_false);
    engine.add_test("mapping", tests::is_mapping);
    engine.add_test("sequence", tests::is_sequence);
    engine.add_test("iterable", tests::is_iterable);
    engine.add_test("odd", tests::is_odd);
    engine.add_test("even", tests::is_even);
    engine.add_test("divisibleby", tests::is_divisibleby);
    engine.add_test("lower", tests::is_lower);
    engine.add_test("upper", tests::is_upper);
    engine.add_test("in", tests::is_in);
    for (name, test) in [
        ("eq", tests::is_eq as fn(&Value, &Value) -> bool),
        ("equalto", tests::is_eq),
        ("==", tests::is_eq),
        ("ne", tests::is_ne),
        ("!=", tests::is_ne),
        ("lt", tests::is_lt),
        ("lessthan", tests::is_lt),
        ("<", tests::is_lt),
        ("le", tests::is_le),
        ("<=", tests::is_le),
        ("gt", tests::is_gt),
        ("greaterthan", tests::is_gt),
        (">", tests::is_gt),
        ("ge", tests::is_ge),
        (">=", tests::is_ge),
    ] {
        engine.add_test(name, test);
    }
}

/// A string made of another; what needed no escaping needs none afterwards.
fn changed(value: &Value, change: impl FnOnce(&str) -> String) -> Result<Value, Error> {
    let text = change(&python::text(value)?);
    Ok(if value.is_safe() {
        Value::from_safe_string(text)
    } else {
        Value::from(text)
    })
}

fn join(value: &Value, between: Option<String>) -> Result<String, Error> {
    let items: Result<Vec<_>, _> = value.try_iter()?.map(|item| python::text(&item)).collect();
    Ok(items?.join(between.as_deref().unwrap_or_default()))
}

/// An integer of anything; `default` of what is none.
fn int(
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    named: Kwargs,
) -> Result<Value, Error> {
    let default = match default {
        Some(default) => default,
        None => named
            .get::<Option<Value>>("default")?
            .unwrap_or_else(|| Value::from(0)),
    };
    let base = match base {
        Some(base) => base,
        None => named.get::<Option<u32>>("base")?.unwrap_or(10),
    };
    named.assert_all_used()?;
    if !(2..=36).contains(&base) {
        let message = "int: the base is none from 2 to 36";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(match value.kind() {
        ValueKind::Undefined => return Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::Bool => Value::from(i64::from(value.is_true())),
        ValueKind::Number if value.is_integer() => value.clone(),
        ValueKind::Number => f64::try_from(value.clone())
            .ok()
            .and_then(whole)
            .unwrap_or(default),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            python::int(text, base)
                .map(Value::from)
                .or_else(|| python::float(text).and_then(whole))
                .unwrap_or(default)
        }
        _ => default,
    })
}

fn whole(float: f64) -> Option<Value> {
    // Beyond 2^53 a float is whole anyway; beyond 128 bits it is a slip.
    let fits = float.is_finite() && float.abs() < 1e38;
    fits.then(|| Value::from(float.trunc() as i128))
}

fn float(value: &Value, default: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let default = match default {
        Some(default) => default,
        None => named
            .get::<Option<Value>>("default")?
            .unwrap_or_else(|| Value::from(0.0)),
    };
    named.assert_all_used()?;
    Ok(match value.kind() {
        ValueKind::Undefined => return Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::Bool => Value::from(if value.is_true() { 1.0 } else { 0.0 }),
        ValueKind::Number => Value::from(f64::try_from(value.clone())?),
        ValueKind::String => {
            python::float(value.as_str().unwrap_or_default()).map_or(default, Value::from)
        }
        _ => default,
    })
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &chars.as_str().to_lowercase()
}

/// Each word with a capital; words end at white space, hyphens and opening brackets.
fn title(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "-({[<".contains(c);
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars() {
        if ends(c) {
            out += &capitalized(&std::mem::take(&mut word));
            out.push(c);
        } else {
            word.push(c);
        }
    }
    out + &capitalized(&word)
}

fn stripped(text: &str, chars: Option<&str>, start: bool, end: bool) -> String {
    let away = |c: char| chars.map_or(c.is_whitespace(), |chars| chars.contains(c));
    let text = if start {
        text.trim_start_matches(away)
    } else {
        text
    };
    let text = if end {
        text.trim_end_matches(away)
    } else {
        text
    };
    text.to_owned()
}

fn replaced(text: &str, old: &str, new: &str, count: Option<usize>) -> String {
    match count {
        Some(count) => text.replacen(old, new, count),
        None => text.replace(old, new),
    }
}

/// The methods of Python's strings that configurations call.
fn string_method(value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let unknown = || Err(Error::from(ErrorKind::UnknownMethod));
    let Some(text) = value.as_str() else {
        return unknown();
    };
    let argument = |at: usize| args.get(at).and_then(Value::as_str);
    let none = args.is_empty();
    let result = match (method, argument(0), argument(1)) {
        ("lower", None, None) if none => Value::from(text.to_lowercase()),
        ("upper", None, None) if none => Value::from(text.to_uppercase()),
        ("title", None, None) if none => Value::from(title(text)),
        ("capitalize", None, None) if none => Value::from(capitalized(text)),
        ("strip", chars, None) if args.len() == usize::from(chars.is_some()) => {
            Value::from(stripped(text, chars, true, true))
        }
        ("lstrip", chars, None) if args.len() == usize::from(chars.is_some()) => {
            Value::from(stripped(text, chars, true, false))
        }
        ("rstrip", chars, None) if args.len() == usize::from(chars.is_some()) => {
            Value::from(stripped(text, chars, false, true))
        }
        ("startswith", Some(start), None) => Value::from(text.starts_with(start)),
        ("endswith", Some(end), None) => Value::from(text.ends_with(end)),
        ("replace", Some(old), Some(new)) if args.len() == 2 => {
            Value::from(replaced(text, old, new, None))
        }
        ("split", None, None) if none => text.split_whitespace().map(Value::from).collect(),
        ("split", Some(at), None) if args.len() == 1 && !at.is_empty() => {
            text.split(at).map(Value::from).collect()
        }
        ("join", ..) if args.len() == 1 => Value::from(join(&args[0], Some(text.to_owned()))?),
        _ => return unknown(),
    };
    Ok(result)
}
