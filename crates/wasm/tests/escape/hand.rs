//! Components no compiler would make, written as text: the contract's canonical ABI by hand.
//!
//! [`Hand`] is a component that exports `tools.pre-invoke`. It allows whatever it is asked, unless the tool's
//! name has the length of [`MISBEHAVE`]: then it first does what [`Hand::body`] says. Everything else of it can
//! be replaced too.

/// The tool's name that makes a component misbehave. It is told from others by its length alone.
pub const MISBEHAVE: &str = "hostile";
/// A tool's name that is answered well.
pub const BEHAVE: &str = "probe";

/// The parts of a component that differ between cases, as text of core modules.
#[derive(Debug, Clone)]
pub struct Hand {
    /// The version of the contract it names.
    pub version: &'static str,
    /// More functions of `call` it imports, as exports of an instance type.
    pub imports: &'static str,
    /// `$memory` and `$table` of the core module that has them.
    pub memory: &'static str,
    /// `cabi_realloc`, with parameters `$old $old_size $align $size`; [`BUMP`] is a good one.
    pub realloc: &'static str,
    /// What `pre-invoke` does first when it misbehaves; `$name`, `$len`, `$doc` and `$ctx` are its parameters.
    pub body: &'static str,
    /// What `init` does first.
    pub init: &'static str,
    /// More definitions of the core module with the hooks: functions, data, `(start ...)`.
    pub more: &'static str,
    /// What runs after `pre-invoke` has been read.
    pub post_return: &'static str,
}

/// Hands out memory from the heap upwards and never takes it back.
pub const BUMP: &str = "
    (local $at i32)
    (local.set $at (i32.and
        (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (local.get $at)";

impl Default for Hand {
    fn default() -> Self {
        Self {
            version: "0.1.0",
            imports: "",
            // 2 MiB and some: room for a megabyte to point at, and for lists that do.
            memory: "(memory $memory (export \"memory\") 40) (table $table (export \"table\") 1 funcref)",
            realloc: BUMP,
            body: "",
            init: "",
            more: "",
            post_return: "",
        }
    }
}

impl Hand {
    /// A component that misbehaves in its hook.
    pub fn hook(body: &'static str) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// The component's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        compile(&self.text())
    }

    /// The component's text.
    pub fn text(&self) -> String {
        let imports = imports(self.imports);
        let Self {
            memory,
            realloc,
            body,
            init,
            more,
            post_return,
            ..
        } = self;
        let text = format!(
            r#"(component $C
{imports}
(core func $drop-document (canon resource.drop $document))
(core func $drop-context (canon resource.drop $context))
(core func $size (canon lower (func $call "[method]document.size")))
(core module $Memory
    (import "host" "size" (func $document-size (param i32) (result i64)))
    {memory}
    (global $heap (mut i32) (i32.const 2359296))
    (func $cabi_realloc (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
        {realloc}))
(core instance $memory (instantiate $Memory (with "host" (instance (export "size" (func $size))))))
(core func $annotate (canon lower (func $call "[method]context.annotate") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(core func $compile (canon lower (func $call "[static]matcher.compile") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(core func $get-strings (canon lower (func $call "[method]document.get-strings") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(core module $Main
    (import "host" "drop-document" (func $drop-document (param i32)))
    (import "host" "drop-context" (func $drop-context (param i32)))
    (import "host" "annotate" (func $annotate (param $ctx i32) (param $key i32) (param $key-len i32) (param $value i32) (param $value-len i32) (param $at i32)))
    (import "host" "compile" (func $compile (param $list i32) (param $count i32) (param $syntax i32) (param $at i32)))
    (import "host" "get-strings" (func $get-strings (param $doc i32) (param $pointer i32) (param $pointer-len i32) (param $at i32)))
    (import "memory" "memory" (memory $memory 1))
    (import "memory" "table" (table $table 1 funcref))
    ;; 16 to 80: the verdict. 128: what init answers. 256: answers of the host. 1024: text.
    (data (i32.const 1024) "{{}}")
    (data (i32.const 1026) "CODE")
    (data (i32.const 1032) "\ff\fe")
    (func $drop (param $doc i32) (param $ctx i32)
        (call $drop-document (local.get $doc))
        (call $drop-context (local.get $ctx)))
    (func $allow (result i32)
        (i32.store (i32.const 16) (i32.const 0))
        (i32.store (i32.const 20) (i32.const 0))
        (i32.const 16))
    ;; A denial with everything empty but these.
    (func $deny (param $code i32) (param $code-len i32) (param $details i32) (param $details-len i32) (param $headers i32) (param $count i32) (result i32)
        (memory.fill (i32.const 16) (i32.const 0) (i32.const 64))
        (i32.store (i32.const 20) (i32.const 2))
        (i32.store (i32.const 24) (local.get $code))
        (i32.store (i32.const 28) (local.get $code-len))
        (i32.store (i32.const 48) (local.get $details))
        (i32.store (i32.const 52) (local.get $details-len))
        (i32.store (i32.const 68) (local.get $headers))
        (i32.store (i32.const 72) (local.get $count))
        (i32.const 16))
    {more}
    (func $pre-invoke (export "pre-invoke") (param $name i32) (param $len i32) (param $doc i32) (param $ctx i32) (result i32)
        (if (i32.eq (local.get $len) (i32.const {misbehave})) (then {body}))
        (call $drop (local.get $doc) (local.get $ctx))
        (call $allow))
    (func (export "post-return") (param i32) {post_return})
    (func $init (export "init") (param $config i32) (result i32)
        {init}
        (call $drop-document (local.get $config))
        (i32.const 128)))
(core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "host" (instance
        (export "drop-document" (func $drop-document))
        (export "drop-context" (func $drop-context))
        (export "annotate" (func $annotate))
        (export "compile" (func $compile))
        (export "get-strings" (func $get-strings))))))
(func $pre-invoke (param "name" string) (param "payload" (borrow $document)) (param "ctx" (borrow $context)) (result (result $verdict (error $failure)))
    (canon lift (core func $main "pre-invoke") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc")) (post-return (core func $main "post-return"))))
(func $init (param "config" (borrow $document)) (result (result (error $failure)))
    (canon lift (core func $main "init") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(instance $tools (export "pre-invoke" (func $pre-invoke)))
(export "hookgate:plugin/tools@VERSION" (instance $tools))
(instance $lifecycle (export "init" (func $init)))
(export "hookgate:plugin/lifecycle@VERSION" (instance $lifecycle))
)"#,
            misbehave = MISBEHAVE.len(),
        );
        text.replace("VERSION", self.version)
    }
}

/// The types of the contract as a component imports them, with `more` functions of `call`.
pub fn imports(more: &str) -> String {
    format!(
        r#"(import "hookgate:plugin/types@VERSION" (instance $types
    (type $violation' (record
        (field "code" string) (field "reason" string) (field "description" string) (field "details" string)
        (field "mcp-error-code" (option s32)) (field "http-status-code" (option u16))
        (field "http-headers" (list (tuple string string)))))
    (export "violation" (type $violation (eq $violation')))
    (type $risk' (enum "low" "medium" "high" "critical"))
    (export "risk" (type $risk (eq $risk')))
    (type $approval' (record (field "reason" string) (field "risk" $risk) (field "details" string)))
    (export "approval" (type $approval (eq $approval')))
    (type $verdict' (variant (case "allow") (case "ask" $approval) (case "deny" $violation)))
    (export "verdict" (type $verdict (eq $verdict')))
    (type $failure' (variant (case "unsupported") (case "failed" string)))
    (export "failure" (type $failure (eq $failure')))
    (type $refusal' (record (field "code" string) (field "message" string)))
    (export "refusal" (type $refusal (eq $refusal')))))
(alias export $types "verdict" (type $verdict))
(alias export $types "failure" (type $failure))
(alias export $types "refusal" (type $refusal))
(import "hookgate:plugin/call@VERSION" (instance $call
    (alias outer $C $refusal (type $refusal'))
    (export "refusal" (type $refusal (eq $refusal')))
    (export "document" (type $document (sub resource)))
    (export "matcher" (type $matcher (sub resource)))
    (export "context" (type $context (sub resource)))
    (type $syntax' (enum "literal" "literal-ignore-case" "regex"))
    (export "syntax" (type $syntax (eq $syntax')))
    (export "[method]document.size" (func (param "self" (borrow $document)) (result u64)))
    (export "[method]document.get-strings" (func (param "self" (borrow $document)) (param "at" string) (result (list string))))
    (export "[static]matcher.compile" (func (param "patterns" (list string)) (param "syntax" $syntax) (result (result (own $matcher) (error $refusal)))))
    (export "[method]context.annotate" (func (param "self" (borrow $context)) (param "key" string) (param "value" string) (result (result (error $refusal)))))
    {more}))
(alias export $call "document" (type $document))
(alias export $call "context" (type $context))"#
    )
}

/// Text to a binary.
pub fn compile(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
