//! The hooks the engine knows by name, and the shape of their payloads. The set is open: any other
//! name is a hook whose payload is an object.

use crate::json::Json;
use crate::pointer::Pointer;
use crate::refusal::Refusal;
use crate::scan::Children;

/// What a member of a payload may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Any,
    String,
    StringOrNull,
    ObjectOrNull,
    Strings,
    Array,
    StringArrayOrNull,
    ObjectArrayOrNull,
}

#[derive(Debug)]
struct Member {
    name: &'static str,
    holds: Holds,
    required: bool,
}

const fn must(name: &'static str, holds: Holds) -> Member {
    Member {
        name,
        holds,
        required: true,
    }
}

const fn may(name: &'static str, holds: Holds) -> Member {
    Member {
        name,
        holds,
        required: false,
    }
}

/// The shape of a hook's payload. Members it does not name are kept as they are.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    subject: Option<&'static str>,
    members: &'static [Member],
}

/// The twelve hooks with a shape of their own or a name of their own, as the legacy framework registers them.
pub const KNOWN_HOOKS: [&str; 12] = [
    "tool_pre_invoke",
    "tool_post_invoke",
    "prompt_pre_fetch",
    "prompt_post_fetch",
    "resource_pre_fetch",
    "resource_post_fetch",
    "agent_pre_invoke",
    "agent_post_invoke",
    "http_pre_request",
    "http_post_request",
    "http_auth_resolve_user",
    "http_auth_check_permission",
];

const ANY_OBJECT: Shape = Shape {
    subject: None,
    members: &[],
};

impl Shape {
    /// The shape of the named hook's payload.
    #[must_use]
    pub fn of(hook: &str) -> Self {
        use Holds::{
            Any, Array, ObjectArrayOrNull, ObjectOrNull, String, StringArrayOrNull, StringOrNull,
            Strings,
        };
        const TOOL_PRE: &[Member] = &[
            must("name", String),
            may("args", ObjectOrNull),
            may("headers", Strings),
        ];
        const TOOL_POST: &[Member] = &[must("name", String), must("result", Any)];
        const PROMPT_PRE: &[Member] = &[must("prompt_id", String), may("args", Strings)];
        const PROMPT_POST: &[Member] = &[must("prompt_id", String), must("result", Any)];
        const RESOURCE_PRE: &[Member] = &[must("uri", String), may("metadata", ObjectOrNull)];
        const RESOURCE_POST: &[Member] = &[must("uri", String), must("content", Any)];
        const AGENT_PRE: &[Member] = &[
            must("agent_id", String),
            must("messages", Array),
            may("tools", StringArrayOrNull),
            may("headers", Strings),
            may("model", StringOrNull),
            may("system_prompt", StringOrNull),
            may("parameters", ObjectOrNull),
        ];
        const AGENT_POST: &[Member] = &[
            must("agent_id", String),
            must("messages", Array),
            may("tool_calls", ObjectArrayOrNull),
        ];
        let members = match hook {
            "tool_pre_invoke" => TOOL_PRE,
            "tool_post_invoke" => TOOL_POST,
            "prompt_pre_fetch" => PROMPT_PRE,
            "prompt_post_fetch" => PROMPT_POST,
            "resource_pre_fetch" => RESOURCE_PRE,
            "resource_post_fetch" => RESOURCE_POST,
            "agent_pre_invoke" => AGENT_PRE,
            "agent_post_invoke" => AGENT_POST,
            _ => return ANY_OBJECT,
        };
        Self {
            subject: Some(members[0].name),
            members,
        }
    }

    /// The member that names what the hook is about; none for hooks without a subject.
    #[must_use]
    pub fn subject(self) -> Option<&'static str> {
        self.subject
    }

    /// Checks one member of a payload, and notes in `seen` which one of the shape's it is. The error is
    /// one line for the caller.
    pub(crate) fn check_member(
        self,
        name: &str,
        value: &str,
        seen: &mut u32,
    ) -> Result<(), String> {
        if let Some(index) = self.members.iter().position(|member| member.name == name) {
            *seen |= 1 << index;
            self.members[index].check(value)?;
        }
        Ok(())
    }

    /// Checks that every member that must be there was seen.
    pub(crate) fn check_complete(self, seen: u32) -> Result<(), String> {
        let missing = self
            .members
            .iter()
            .enumerate()
            .find(|(index, m)| m.required && seen & (1 << index) == 0);
        missing.map_or(Ok(()), |(_, member)| {
            Err(format!("member `{}` is missing", member.name))
        })
    }

    /// Whether putting `value` at `at` keeps the shape.
    pub(crate) fn allows_set(self, at: &Pointer, value: &Json) -> Result<(), Refusal> {
        let Some(member) = self.member(at) else {
            return Ok(());
        };
        let text = value.as_str().trim_start();
        let fits = match at.tokens().len() {
            1 => member.check(text),
            2 => member.check_child(text),
            _ => Ok(()),
        };
        fits.map_err(|problem| Refusal::invalid(format!("{at}: {problem}")))
    }

    /// Whether removing what is at `at` keeps the shape.
    pub(crate) fn allows_remove(self, at: &Pointer) -> Result<(), Refusal> {
        match self.member(at) {
            Some(member) if member.required && at.tokens().len() == 1 => Err(Refusal::invalid(
                format!("{at}: member `{}` cannot be removed", member.name),
            )),
            _ => Ok(()),
        }
    }

    fn member(self, at: &Pointer) -> Option<&'static Member> {
        let first = at.tokens().first()?;
        self.members.iter().find(|member| member.name == first)
    }
}

impl Member {
    fn check(&self, text: &str) -> Result<(), String> {
        let start = text.as_bytes().first().copied().unwrap_or(b' ');
        let (fits, expected) = match self.holds {
            Holds::Any => (true, ""),
            Holds::String => (start == b'"', "a string"),
            Holds::StringOrNull => (matches!(start, b'"' | b'n'), "a string or null"),
            Holds::ObjectOrNull => (matches!(start, b'{' | b'n'), "an object or null"),
            Holds::Strings => (matches!(start, b'{' | b'n'), "an object of strings or null"),
            Holds::Array => (start == b'[', "an array"),
            Holds::StringArrayOrNull => {
                (matches!(start, b'[' | b'n'), "an array of strings or null")
            }
            Holds::ObjectArrayOrNull => {
                (matches!(start, b'[' | b'n'), "an array of objects or null")
            }
        };
        if !fits {
            return Err(format!("member `{}` is not {expected}", self.name));
        }
        if matches!(
            self.holds,
            Holds::Strings | Holds::StringArrayOrNull | Holds::ObjectArrayOrNull
        ) {
            return Children::new(text, 0)
                .try_for_each(|child| self.check_child(&text[child.value]));
        }
        Ok(())
    }

    fn check_child(&self, text: &str) -> Result<(), String> {
        let start = text.as_bytes().first().copied().unwrap_or(b' ');
        match self.holds {
            Holds::Strings | Holds::StringArrayOrNull if start != b'"' => Err(format!(
                "member `{}` holds something other than strings",
                self.name
            )),
            Holds::ObjectArrayOrNull if start != b'{' => Err(format!(
                "member `{}` holds something other than objects",
                self.name
            )),
            _ => Ok(()),
        }
    }
}
