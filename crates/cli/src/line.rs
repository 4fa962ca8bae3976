//! [`Line`]: one line of `hookgate run`'s input, without a tree of its values.
//!
//! The payload stays the text it is in the line, so that the check at the door sees what the caller
//! wrote: duplicate keys, lone surrogates and numbers of any size included.

use std::fmt;

use hookgate::{Payload, Request};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The keys of a line, as messages list them.
const KEYS: &str = "id, hook, payload, request";

/// A call to make.
#[derive(Debug)]
pub struct Line {
    /// The caller's id, whatever JSON it is.
    pub id: Option<Box<RawValue>>,
    /// The hook.
    pub hook: String,
    /// What it is about.
    pub payload: Payload,
    /// Who asks.
    pub request: Request,
}

/// A line that is no call.
#[derive(Debug)]
pub struct InvalidLine {
    /// Its id, if it could be read.
    pub id: Option<Box<RawValue>>,
    /// Its hook, if it could be read.
    pub hook: Option<String>,
    /// What is wrong, in one line.
    pub message: String,
}

impl InvalidLine {
    /// The code in the output.
    pub const CODE: &'static str = "invalid_line";

    /// A line of which nothing could be read.
    pub fn unreadable(message: String) -> Self {
        Self {
            id: None,
            hook: None,
            message,
        }
    }
}

impl Line {
    /// Reads a line that is not blank.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidLine> {
        let text = std::str::from_utf8(text).map_err(|error| {
            InvalidLine::unreadable(format!("not UTF-8 at byte {}", error.valid_up_to() + 1))
        })?;
        let members: Members<'_> = serde_json::from_str(text)
            .map_err(|error| InvalidLine::unreadable(json_message(&error)))?;
        let hook = members
            .hook
            .map(|raw| serde_json::from_str::<String>(raw.get()));
        let invalid = |hook: Option<String>, message: String| InvalidLine {
            id: members.id.map(ToOwned::to_owned),
            hook,
            message,
        };
        let hook = match hook {
            Some(Ok(hook)) => hook,
            Some(Err(_)) => return Err(invalid(None, "hook is not a string".to_owned())),
            None => return Err(invalid(None, format!("no hook; a line has {KEYS}"))),
        };
        if let Some(problem) = members.problem {
            return Err(invalid(Some(hook), problem));
        }
        let Some(payload) = members.payload else {
            return Err(invalid(
                Some(hook),
                format!("no payload; a line has {KEYS}"),
            ));
        };
        let request = members.request.map_or("null", RawValue::get);
        let request = match serde_json::from_str::<Option<Request>>(request) {
            Ok(request) => request.unwrap_or_default(),
            Err(error) => {
                let message = format!("request: {}", without_place(&error));
                return Err(invalid(Some(hook), message));
            }
        };
        Ok(Self {
            id: members.id.map(ToOwned::to_owned),
            hook,
            payload: payload.get().into(),
            request,
        })
    }
}

fn json_message(error: &serde_json::Error) -> String {
    if error.is_data() {
        return without_place(error);
    }
    format!(
        "not JSON: {} at byte {}",
        without_place(error),
        error.column()
    )
}

/// The message of an error in a text of one line, where the line number says nothing.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}

/// The members of a line as text, and the first thing wrong with its keys.
#[derive(Default)]
struct Members<'a> {
    id: Option<&'a RawValue>,
    hook: Option<&'a RawValue>,
    payload: Option<&'a RawValue>,
    request: Option<&'a RawValue>,
    problem: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {KEYS}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key::<String>()? {
            let place = match key.as_str() {
                "id" => &mut members.id,
                "hook" => &mut members.hook,
                "payload" => &mut members.payload,
                "request" => &mut members.request,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    let problem =
                        || format!("unknown key: {}; a line has {KEYS}", key.escape_debug());
                    members.problem.get_or_insert_with(problem);
                    continue;
                }
            };
            if place.is_some() {
                return Err(A::Error::custom(format!("key given twice: {key}")));
            }
            *place = Some(map.next_value()?);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_stays_the_text_it_is() {
        let line = Line::parse(
            br#" {"id": 7, "hook": "x", "payload": {"a": 1.10, "a" : 1E400, "s": "\ud800"} } "#,
        )
        .unwrap();
        assert_eq!(
            line.payload.as_str(),
            r#"{"a": 1.10, "a" : 1E400, "s": "\ud800"}"#
        );
        assert_eq!((line.id.unwrap().get(), line.hook.as_str()), ("7", "x"));
        assert_eq!(line.request, Request::default());
    }

    #[test]
    fn the_depth_of_a_payload_is_judged_at_the_door() {
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let line = Line::parse(format!(r#"{{"hook":"x","payload":{deep}}}"#).as_bytes()).unwrap();
        assert_eq!(line.payload.as_str(), deep);
    }

    #[test]
    fn a_request_is_read_strictly() {
        let text =
            br#"{"hook":"x","payload":{},"request":{"id":"r1","user":{"n":1.10},"tenant_id":"t"}}"#;
        let line = Line::parse(text).unwrap();
        assert_eq!(line.request.id.as_deref(), Some("r1"));
        assert_eq!(line.request.user.unwrap().as_str(), r#"{"n":1.10}"#);
        let error = Line::parse(br#"{"id":"a","hook":"x","payload":{},"request":{"ids":"r1"}}"#)
            .unwrap_err();
        assert!(
            error
                .message
                .starts_with("request: unknown field `ids`, expected one of `id`, "),
            "{}",
            error.message
        );
        assert_eq!(
            (error.id.unwrap().get(), error.hook.as_deref()),
            (r#""a""#, Some("x"))
        );
    }

    #[test]
    fn messages_name_the_mistake() {
        let cases: [(&[u8], &str); 9] = [
            (b"nonsense", "not JSON: expected ident at byte 2"),
            (
                br#"{"hook":"x","payload":{}} x"#,
                "not JSON: trailing characters at byte 27",
            ),
            (
                br#"{"hook":"x","payload":{"n":NaN}}"#,
                "not JSON: expected value at byte 28",
            ),
            (b"\"\xff\"", "not UTF-8 at byte 2"),
            (
                b"[1]",
                "invalid type: sequence, expected an object with id, hook, payload, request",
            ),
            (
                br#"{"payload":{}}"#,
                "no hook; a line has id, hook, payload, request",
            ),
            (br#"{"hook":3,"payload":{}}"#, "hook is not a string"),
            (
                br#"{"hook":"x"}"#,
                "no payload; a line has id, hook, payload, request",
            ),
            (
                br#"{"hook":"x","payload":{},"reqest":{}}"#,
                "unknown key: reqest; a line has id, hook, payload, request",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(
                Line::parse(text).unwrap_err().message,
                message,
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        let error = Line::parse(br#"{"hook":"x","hook":"y","payload":{}}"#).unwrap_err();
        assert_eq!(error.message, "key given twice: hook");
    }
}
