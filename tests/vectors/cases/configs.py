"""Legacy configurations, each with the variables it is read with: what the framework makes of them is in configs.json.

`differs` marks a case that is read otherwise on purpose, with the reason. `ours` says how: "refuses", "loads", or the
members of the first plugin that have another value.
"""

ENTRY = "plugins:\n- name: a\n  kind: pkg.mod.Plugin\n  hooks: [tool_pre_invoke]\n"


def case(name, text, env=None, differs=None, ours=None):
    """One configuration."""
    made = {"name": name, "text": "plugin_dirs: []\n" + text, "env": env or {}}
    return made | ({"differs": differs, "ours": ours} if differs else {})


def entry(name, lines, **more):
    """A good entry with more lines."""
    return case(name, ENTRY + "".join(f"  {line}\n" for line in lines.splitlines()), **more)


def value(text, **more):
    """A plain scalar as a value of the plugin's own config."""
    return entry(f"scalar {text}", f"config: {{v: {text}}}", **more)


def filled(code, **more):
    """A template inside a text of the plugin's own config."""
    env = more.pop("env", VARIABLES)
    return entry(f"template {code}", f"config:\n  v: |\n    <{code}>", env=env, **more)


VARIABLES = {
    "WORD": "plain", "MARKUP": "a&b<c>\"d'/e", "NUMBER": "42", "FLOAT": "12.5", "PADDED": "  pad ", "LIST": "a,b,c",
    "EMPTY": "", "TRUE": "true", "UNICODE": "Gr\u00fc\u00dfe", "URL": "redis://h:1/0",
}

STRICT = "a slip is told: what the framework's model lets pass would be lost without a word"
UNKNOWN = "keys that nobody reads are refused with the nearest known one"
NAMES = "names, hooks and kinds must be usable in records and on a command line"

MODES = [
    *(entry(f"mode {mode}", f"mode: {mode}") for mode in (
        "sequential", "transform", "audit", "concurrent", "fire_and_forget", "disabled", "enforce",
        "enforce_ignore_error", "permissive", "ENFORCE", '"enforce "', "Sequential", "''", "null", "off", "on", "observe",
    )),
    *(entry(f"enforce_ignore_error and on_error {on_error}", f"mode: enforce_ignore_error\non_error: {on_error}")
      for on_error in ("fail", "ignore", "disable")),
    *(entry(f"on_error {on_error}", f"on_error: {on_error}") for on_error in ("fail", "ignore", "disable", "FAIL", "null")),
    entry("enforce_ignore_error and on_error null", "mode: enforce_ignore_error\non_error: null"),
    entry("permissive and on_error ignore", "mode: permissive\non_error: ignore"),
    entry("a background plugin that may not fail", "mode: fire_and_forget\non_error: fail"),
]

PRIORITIES = [
    *(entry(f"priority {number}", f"priority: {number}") for number in (
        "50", '"50"', "' 50 '", "50.0", '"50.0"', "50.5", "1e2", "-3", "+3", "012", "0x10", "1_000", "true", "12:30", "null",
        "abc", "[1]", "1.5e+3",
    )),
    entry("a priority of twenty digits", "priority: 99999999999999999999", ours="refuses",
          differs="priorities are 32 bits wide"),
    entry("a priority from a variable", "priority: {{ env.NUMBER }}", env=VARIABLES),
    entry("a quoted priority from a variable", "priority: '{{ env.NUMBER | int + 1 }}'", env=VARIABLES),
]

TEXTS = [
    entry("everything an author says", "description: what it does\nauthor: somebody\nversion: 1.2.3\nnamespace: team\ntags: [a, b]"),
    entry("nothing said", "description: null\nauthor:\nversion: ~\nnamespace: null"),
    entry("a version that is a number", "version: 1.10", ours={"version": "1.10"},
          differs="everybody reads it as a version; the framework refuses it"),
    entry("a description that is a number", "description: 1"),
    entry("no tags", "tags: null", ours={"tags": []}, differs="an empty list is meant; the framework refuses it"),
    entry("a tag twice", "tags: [a, a]", ours={"tags": ["a"]}, differs="a list of words is a set"),
    entry("tags that are no list", "tags: a"),
    entry("a payload bound", "max_content_size: 1000"),
    entry("a payload bound in quotes", "max_content_size: '1000'"),
    entry("a payload bound that is no number", "max_content_size: big"),
    entry("an unknown key", "prority: 10", ours="refuses", differs=UNKNOWN),
    entry("a key twice", "priority: 10\npriority: 20"),
    case("no name", "plugins:\n- kind: a.b.C\n"),
    case("no kind", "plugins:\n- name: a\n"),
    case("an empty name", "plugins:\n- {name: '', kind: a.b.C, hooks: [x]}\n", ours="refuses", differs=NAMES),
    case("a name that is a number", "plugins:\n- {name: 1, kind: a.b.C, hooks: [x]}\n"),
    case("a kind without a module", "plugins:\n- {name: a, kind: Plugin, hooks: [x]}\n", ours="refuses",
         differs="the framework reads it and cannot load it"),
]

HOOKS = [
    case("no hooks", "plugins:\n- {name: a, kind: a.b.C}\n"),
    case("an empty list of hooks", "plugins:\n- {name: a, kind: a.b.C, hooks: []}\n"),
    case("misspelt hooks", "plugins:\n- {name: a, kind: a.b.C, hooks: [prompt_pre_hook, tool_pre_hook, HTTP_PRE_REQUEST]}\n"),
    case("hooks that are no list", "plugins:\n- {name: a, kind: a.b.C, hooks: tool_pre_invoke}\n"),
    case("hooks of nothing", "plugins:\n- {name: a, kind: a.b.C, hooks: null}\n"),
    case("a hook twice", "plugins:\n- {name: a, kind: a.b.C, hooks: [x, x]}\n", ours={"hooks": ["x"]},
         differs="the framework asks the plugin twice"),
    case("a hook with a space", "plugins:\n- {name: a, kind: a.b.C, hooks: ['a b']}\n", ours="refuses", differs=NAMES),
]

CAPABILITIES = [
    entry("all capabilities", "capabilities: [read_subject, read_roles, read_teams, read_claims, read_permissions, read_agent, "
          "read_headers, write_headers, read_labels, append_labels, read_delegation, append_delegation]"),
    entry("an unknown capability", "capabilities: [read_header]"),
    entry("no capabilities", "capabilities: []"),
    entry("capabilities that are no list", "capabilities: read_headers", ours="refuses", differs=STRICT),
    entry("capabilities of nothing", "capabilities: null", ours="refuses", differs=STRICT),
    entry("a capability twice", "capabilities: [read_headers, read_headers]"),
]

CONDITIONS = [
    entry("no conditions", "conditions: []"),
    entry("conditions with empty lists", "conditions: [{prompts: [], server_ids: [], tenant_ids: []}]"),
    entry("a condition", "conditions:\n- server_ids: [s1, s2]\n  tenant_ids: [t]\n  tools: [b, a]\n  prompts: [p]\n"
          "  resources: ['file:///a']\n  agents: [g]\n  user_patterns: [adm]\n  content_types: ['Application/JSON; charset=utf-8']"),
    entry("two conditions", "conditions: [{tools: [a]}, {prompts: [b]}]"),
    entry("a condition of nulls", "conditions: [{tools: null}]"),
    entry("conditions of nothing", "conditions: null"),
    entry("conditions that are a mapping", "conditions: {tools: [a]}"),
    entry("tools that are a text", "conditions: [{tools: a}]"),
]

APPLIED_TO = [
    entry("applied to", "applied_to:\n  tools:\n  - {tool_name: t, fields: [a], result: true, context: [global.x], extensions: {policy: p}}\n"
          "  prompts: [{prompt_name: p}]\n  resources: [{resource_uri: 'file:///a'}]"),
    entry("applied to nothing", "applied_to: null"),
    entry("applied to a tool without a name", "applied_to: {tools: [{fields: [a]}]}"),
    entry("applied to what is no list", "applied_to: {tools: {tool_name: t}}"),
    entry("applied to unknown things", "applied_to: {tool: [{tool_name: t}]}", ours="refuses", differs=UNKNOWN),
]

CONFIG = [
    entry("no config", "config: null"),
    case("no config at all", ENTRY),
    entry("an empty config", "config: {}"),
    entry("a config that is a list", "config: []"),
    entry("a config that nobody judges", "config: {anything: [1, {b: null}], 'with space': '{a}', deep: {er: {still: x}}}"),
    entry("a key of config twice", "config: {a: 1, a: 2}"),
    entry("keys of config that are no texts", "config: {1: a, yes: b}", ours={"config": {"1": "a", "yes": "b"}},
          differs="names are texts; the framework refuses them"),
    entry("default_config", "config: {a: 1}\ndefault_config: {a: 9, b: 2}", ours={"config": {"a": 1, "b": 2}},
          differs="the framework drops it; its installer merges it as we do"),
    entry("default_configs", "default_configs: {b: 2}", ours={"config": {"b": 2}},
          differs="the framework drops it; its installer merges it as we do"),
    *(value(text) for text in (
        "yes", "NO", "On", "off", "y", "nO", "true", "~", "Null", "012", "0o17", "08", "0", "1_000", "0b11", "-0x1F", "0_7",
        "+1", "1e3", "1.5e3", "1.5e+3", "'1'", "1.", ".5", "-.5", "1_0.5", "12:30", "190:20:30", "190:20:30.15", "12:60", "1.2.3",
        "!!str yes", '"yes"', "'no'", "a b", "-0", "[yes, {a: no}]", "2024", "123456789012345678901234567890",
    )),
    *(value(text, ours={"config": {"v": text}}, differs="JSON has no dates; the plugin gets the text, with a note")
      for text in ("2024-01-01", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43")),
    value(".inf", ours="refuses", differs="JSON has no infinities"),
    value("=", ours={"config": {"v": "="}}, differs="a text; the framework's YAML library stumbles over it"),
    entry("a block text", "config:\n  v: |\n    yes\n    no\n  w: >-\n    1\n    2"),
    entry("an alias", "config:\n  a: &x {on: 1}\n  b: *x\n  c: {<<: *x, d: no}", ours={"config": {"a": {"on": 1}, "b": {"on": 1}, "c": {"on": 1, "d": False}}},
          differs="names are texts: the framework makes true of a key `on`"),
]

KINDS = [
    case("isolated", "plugins:\n- name: a\n  kind: isolated_venv\n  hooks: [tool_pre_invoke]\n"
         "  config: {class_name: pkg.mod.Plugin, requirements_file: requirements.txt, own: 1}\n"),
    case("external and disabled", "plugins:\n- {name: a, kind: external, hooks: [x], mode: disabled, "
         "mcp: {proto: STREAMABLEHTTP, url: 'https://plugins.example.com/mcp'}}\n"),
    case("external", "plugins:\n- {name: a, kind: external, hooks: [x], mcp: {proto: STDIO, script: a.py}}\n", ours="refuses",
         differs="plugins that run elsewhere are not talked to"),
    case("builtin", "plugins:\n- {name: a, kind: builtin, hooks: [x]}\n", ours="refuses", differs="the framework reads it and cannot load it"),
    case("native and disabled", "plugins:\n- {name: a, kind: native, hooks: [x], mode: disabled}\n"),
    case("a disabled entry with an unknown key", "plugins:\n- {name: a, kind: x, mode: disabled, whatever: 1, config: {a: 1}}\n"),
    case("a disabled entry with a wrong priority", "plugins:\n- {name: a, kind: x, mode: disabled, priority: high}\n", ours="loads",
         differs="disabled entries are only parsed"),
]

FILES = [
    case("no plugins", ""),
    case("plugins of nothing", "plugins:\n"),
    case("an empty list of plugins", "plugins: []\n"),
    case("plugins that are a mapping", "plugins: {a: 1}\n"),
    {"name": "plugin_dirs of nothing", "text": "plugin_dirs:\nplugin_settings: {}\nplugins: []\n", "env": {}},
    {"name": "plugin_dirs that are a text", "text": "plugin_dirs: plugins\nplugins: []\n", "env": {}},
    case("settings", "plugin_settings: {plugin_timeout: 5, fail_on_plugin_error: true, enable_plugin_api: true}\nplugins: []\n"),
    case("an unknown key at the top", "plugin: []\n", ours="refuses", differs=UNKNOWN),
    case("no YAML", "plugins: [\n"),
    case("two entries", "plugins:\n- {name: a, kind: a.b.C, hooks: [x], mode: enforce}\n- {name: b, kind: a.b.C, hooks: [y], mode: permissive, priority: 1}\n"),
]

TEMPLATES = [
    *(filled(code) for code in (
        "{{ env.WORD }}", "{{ env['WORD'] }}", '{{ env["WORD"] }}', "{{env.WORD}}", "{{ env.MARKUP }}", "{{ env.NOPE }}",
        "{{ env.NOPE | default('y&z') }}", "{{ env.EMPTY | default('y') }}", "{{ env.EMPTY | default('y', true) }}",
        "{{ env.NOPE | default(env.ALSO_NOT | default('z')) }}", "{{ env.NOPE | d('z') }}", "{{ env.NOPE or 'z' }}",
        "{{ env.MARKUP | safe }}", "{{ env.MARKUP | e }}", "{{ env.MARKUP | escape | upper }}", "{{ env.MARKUP | tojson }}",
        "{{ env.UNICODE | tojson }}", "{{ env.UNICODE | upper }}", "{{ env.NUMBER | int + 1 }}", "{{ env.FLOAT | int }}",
        "{{ env.WORD | int }}", "{{ env.WORD | int(7) }}", "{{ env.WORD | int(default=8) }}", "{{ '0x1f' | int(base=16) }}",
        "{{ ' 1_000 ' | int }}", "{{ env.FLOAT | float }}", "{{ env.NUMBER | float }}", "{{ env.WORD | float(1.5) }}",
        "{{ env.PADDED | trim }}", "{{ env.LIST | replace(',', ';') }}", "{{ 'aaa' | replace('a', 'b', 2) }}", "{{ env.WORD | length }}",
        "{{ env.WORD | title }}", "{{ 'hello wORLD-foo (bar' | title }}", "{{ 'hello wORLD' | capitalize }}", "{{ env.WORD | first }}",
        "{{ env.WORD | last }}", "{{ env.LIST.split(',') | join('+') }}", "{{ env.LIST.split(',') | tojson }}", "{{ env.LIST.split(',') }}",
        "{{ env.LIST.upper() }}", "{{ env.PADDED.strip() }}", "{{ env.WORD.startswith('pl') }}", "{{ ','.join(['a', 'b']) }}",
        "{{ env.get('WORD') }}", "{{ env.get('NOPE', 'z') }}", "{{ env.get('NOPE') }}", "{{ 'WORD' in env }}", "{{ 'NOPE' in env }}",
        "{{ nope }}", "{{ event }}", "{{ true }}", "{{ none }}", "{{ 1.0 }}", "{{ 5 / 2 }}", "{{ 4 / 2 }}", "{{ 7 // 2 }}", "{{ 2 ** 3 }}",
        "{{ 1e16 }}", "{{ 0.1 + 0.2 }}", "{{ 1e-5 }}", "{{ 'a' ~ env.NOPE ~ 'b' }}", "{{ 'a' + env.NUMBER }}", "{{ '1' * 3 }}",
        "{{ ['a', 1, true, none, 1.5, \"it's\"] }}", "{{ {'b': 1} }}", "{{ {'b': 1, 'a': 'x<'} | tojson }}",
        "{{ 'x' if env.TRUE == 'true' else 'y' }}", "{{ env.TRUE == 'true' and env.NUMBER | int > 40 }}", "{{ env.NOPE is defined }}",
        "{{ env.WORD is string }}", "{{ range(3) | join(',') }}", "{{ [3, 1, 2] | sort | first }}", "{{ -3 | abs }}", "{{ 3.7 | round }}",
        "{{ [1, 5] | max }}", "{{ env.LIST.split(',') | map('upper') | join }}", "{{ 'a\\nb' | tojson }}", "{{ \"\\u00e9\" }}",
        "{% if env.TRUE == 'true' %}yes{% else %}no{% endif %}", "{% if env.NOPE %}y{% endif %}-", "{% raw %}{{ env.WORD }}{% endraw %}",
        "{# {{ env.WORD }} #}x", "{% set a = env.NUMBER %}{{ a }}", "{% for w in env.LIST.split(',') %}{{ w }}{{ loop.index }};{% endfor %}",
        "a {{- env.WORD -}} b", "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m('<') }}", "{% filter upper %}x{{ env.WORD }}{% endfilter %}",
        "{% with a = 1 %}{{ a }}{% endwith %}", "{% set x %}a&b{{ env.MARKUP }}{% endset %}{{ x }}", "{ { env.WORD } }", "{{ '{{' }}",
    )),
    *(filled(code) for code in (
        "{{ env.NOPE | int }}", "{{ env.NOPE.x }}", "{{ nope.x }}", "{{ env.NUMBER + 1 }}", "{{ env.WORD | nofilter }}", "{{ env.WORD",
        "{% if %}", "{% endif %}", "{% include 'x' %}", "{{ env.WORD | bool }}", "{{ env.LIST | split(',') }}", "{% do 1 %}", "{{ 'a }}",
        "{# a", "{{ env.WORD.nothing() }}",
    )),
    filled("{{ env.WORD | center(9) }}", ours="refuses", differs="a filter no configuration needs; the message lists those there are"),
    filled("{{ env }}", ours="refuses", env={"WORD": "x"}, differs="the whole environment belongs in no plugin's config"),
    filled("{{ env.pop('WORD') }}", ours="refuses", differs="a configuration does not change the environment"),
    filled("{{ 1, 2 }}", ours="refuses", differs="tuples; nobody writes them, and the template engine has none"),
    entry("a template without quotes", "config: {v: {{ env.NUMBER }}}", env=VARIABLES),
    entry("a template without quotes, a word", "config: {v: {{ env.TRUE }}}", env=VARIABLES),
    entry("a template that breaks the YAML", "config: {v: {{ env.WORD }}}", env={"WORD": "a: [b"}),
    entry("a template in double quotes", 'config: {v: "{{ env.WORD }}"}', env={"WORD": "a\\tb\\\\c"}),
    entry("a template in single quotes", "config: {v: '{{ env.WORD }}'}", env={"WORD": "it's"}),
    entry("a template in a mode", "mode: \"{{ env.MODE | default('enforce') }}\"", env={"MODE": "permissive"}),
    entry("a template in a mode that is not set", "mode: \"{{ env.MODE | default('enforce_ignore_error') }}\""),
    entry("a value with a newline", "config: {v: \"{{ env.WORD }}\", w: 1}", env={"WORD": "a\nb"}),
    case("entries from a loop", "plugins:\n{% for n in env.LIST.split(',') %}- {name: {{ n }}, kind: a.b.C, hooks: [x]}\n{% endfor %}", env=VARIABLES),
    case("an entry behind a condition", "plugins:\n{% if env.TRUE == 'true' %}\n- {name: a, kind: a.b.C, hooks: [x]}\n{% else %}\n- {name: b, kind: a.b.C, hooks: [x]}\n{% endif %}\n", env=VARIABLES),
    case("a template in a comment", "# {{ env.NOPE | int }}\nplugins: []\n"),
]

CASES = [*MODES, *PRIORITIES, *TEXTS, *HOOKS, *CAPABILITIES, *CONDITIONS, *APPLIED_TO, *CONFIG, *KINDS, *FILES, *TEMPLATES]
