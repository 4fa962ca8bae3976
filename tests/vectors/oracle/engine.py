"""The engine as the contract words it: phases by mode, what of an answer counts, faults, state, the outcome.

One `Engine` stands for one running setup. It holds what outlives a call: state per request and the
plugins that `on_error: disable` has taken out.
"""

import copy
import hashlib
from dataclasses import dataclass

from oracle import door, edits, ijson
from oracle.answer import Answer, Call, Failed, violation
from oracle.effects import Effects
from oracle.ijson import equal, from_python
from oracle.policies import POLICIES

# In this order. What runs as `fire_and_forget` leaves no trace in an outcome, and `disabled` is not there at all.
PHASES = ["sequential", "transform", "audit", "concurrent"]
MAY_MODIFY = ["sequential", "transform"]
MAY_BLOCK = ["sequential", "concurrent"]
# Stands for the digest of the payload beside it, where the contract does not say what text edits leave.
OF_THE_PAYLOAD = "of the payload"


class Engine:
    """One setup, running."""

    def __init__(self, setup):
        plugins = [plugin for plugin in setup["plugins"] if plugin.get("mode") != "disabled"]
        self.plugins = [{"mode": "sequential", "on_error": "fail", "priority": 100, **plugin} for plugin in plugins]
        self.disabled = set()
        self.requests = {}

    def enable_all(self):
        """Done before each vector: what `on_error: disable` takes out is out within one."""
        self.disabled.clear()

    def invoke(self, hook, text, request=None):
        """The canonical outcome of one step; raises `InvalidPayload`."""
        listeners = [plugin for plugin in self.plugins if hook in plugin["hooks"]]
        if not listeners:
            return Run(self, hook, text, ijson.parse(text), {}).outcome()
        run = Run(self, hook, text, door.check(hook, text), request or {})
        for phase in PHASES:
            plugins = [plugin for plugin in listeners if plugin["mode"] == phase and run.concerns(plugin)]
            if phase == "concurrent":
                run.all_at_once(plugins)
            else:
                # Equals keep the config's order.
                run.one_by_one(sorted(plugins, key=lambda plugin: plugin["priority"]))
            if run.violation:
                break
        return run.outcome()


@dataclass
class Asked:
    """What came of asking one plugin: an answer or a kind of fault, and the state as it left it."""

    plugin: dict
    answer: Answer | None
    fault: str | None
    call: Call

    def denies(self):
        """Whether this stops the pipeline, where the mode lets it."""
        return self.plugin["on_error"] == "fail" if self.fault else self.answer.verdict == "deny"


class Run:
    """One call on its way through the phases."""

    def __init__(self, engine, hook, text, payload, request):
        self.engine, self.hook, self.text, self.request = engine, hook, text, request
        self.received = self.payload = payload
        self.edited = False
        # A request without an id is one of its own: what it writes is never seen again.
        self.private, self.shared = engine.requests.setdefault(request["id"], ({}, {})) if "id" in request else ({}, {})
        self.effects = Effects()
        self.violation, self.approvals, self.suppressed, self.faults = None, [], [], []

    def concerns(self, plugin):
        """Whether it is asked at all. Of conditions the vectors here use the one on a tool's name."""
        conditions = plugin.get("conditions", [])
        assert all(list(condition) == ["tools"] for condition in conditions), "the oracle knows conditions on tools"
        named = not conditions or any(self.received["name"] in condition["tools"] for condition in conditions)
        return named and plugin["name"] not in self.engine.disabled

    def one_by_one(self, plugins):
        """Each sees what those before it left; a denial that counts ends it."""
        for plugin in plugins:
            self.settle(self.ask(plugin))
            if self.violation:
                return

    def all_at_once(self, plugins):
        """All see the same. What they leave merges in config order; beside a denial nothing of the others does."""
        asked = [self.ask(plugin) for plugin in plugins]
        denying = [one for one in asked if one.denies()]
        # One that has not answered by then is cancelled.
        prompt = [one for one in denying if one.fault != "timeout"] or denying
        if prompt:
            others = [one for one in asked if one not in prompt and one.fault != "timeout"]
            assert len(prompt) == 1, "which of two denials comes first depends on time"
            assert not any(one.fault or one.answer.violation for one in others), "whether they are listed depends on time"
            asked = prompt
        for one in asked:
            self.settle(one)

    def ask(self, plugin):
        """A plugin's answer to the payload as it is now."""
        if self.hook == "tool_pre_invoke" and self.payload.get("headers"):
            assert "read_headers" in plugin.get("data", []), "headers need a grant"
        state = self.private.get(plugin["name"], {})
        call = Call(from_python(self.request), copy.deepcopy(state), copy.deepcopy(self.shared))
        try:
            answer = POLICIES[plugin["policy"]](self.hook, self.payload, from_python(plugin["config"]), call)
        except Failed as failed:
            return Asked(plugin, None, str(failed), call)
        if answer.refused and answer.verdict != "deny":
            # What could not change what it wanted to change has not allowed it.
            return Asked(plugin, None, "protocol", call)
        return Asked(plugin, answer, None, call)

    def settle(self, one):
        """What of an answer or a fault counts, by the plugin's mode."""
        if one.fault:
            return self.fault(one)
        plugin, answer = one.plugin, one.answer
        name, mode = plugin["name"], plugin["mode"]
        if mode == "audit":
            self.effects.metadata.update(answer.metadata)
        else:
            self.effects.add(answer)
            self.write(one)
        denied = None if answer.violation is None else {"plugin": name, **answer.violation}
        if answer.verdict == "deny" and denied is None:
            denied = {"plugin": name, **violation("denied", "denied")}
        approval = None if answer.approval is None else {"plugin": name, **answer.approval}
        if mode in MAY_BLOCK and answer.verdict == "deny":
            self.violation = denied
        elif mode in MAY_BLOCK and answer.verdict == "ask":
            self.approvals.append(approval)
        elif denied or approval:
            said = {"violation": denied} if denied else {"approval": approval}
            self.suppressed.append({"plugin": name, "mode": mode, "verdict": answer.verdict, **said})
        if mode in MAY_MODIFY and answer.verdict != "deny" and answer.edits:
            self.payload = edits.apply(self.payload, answer.edits)
            self.edited = True
            door.check_shape(self.hook, self.payload)
        return None

    def fault(self, one):
        """A fault is no verdict: `on_error` alone says what comes of it, in every mode."""
        name, on_error = one.plugin["name"], one.plugin["on_error"]
        phase = {"phase": "guest"} if one.fault == "timeout" else {}
        self.faults.append({"plugin": name, "kind": one.fault, "on_error": on_error, **phase})
        if on_error == "fail":
            self.violation = {"plugin": name, **violation("plugin_fault", "plugin fault", details={"fault": one.fault})}
        if on_error == "disable":
            self.engine.disabled.add(name)

    def write(self, one):
        """State as the call left it. Of the shared one only what it changed: another may have written meanwhile."""
        self.private[one.plugin["name"]] = one.call.state
        before = one.call.found_shared
        for key in before.keys() - one.call.shared.keys():
            self.shared.pop(key, None)
        for key, value in one.call.shared.items():
            if key not in before or not equal(before[key], value):
                self.shared[key] = value

    def outcome(self):
        """The canonical outcome."""
        decision = "deny" if self.violation else "ask" if self.approvals else "allow"
        denied = decision == "deny"
        digest = OF_THE_PAYLOAD if self.edited else hashlib.sha256(self.text.encode()).hexdigest()
        for approval in [*self.approvals, *(one["approval"] for one in self.suppressed if "approval" in one)]:
            # Without a payload there is nothing to approve.
            approval["payload_sha256"] = "" if denied else digest
        return {
            "decision": decision,
            "payload": None if denied else self.payload,
            "modified": not denied and not equal(self.received, self.payload),
            "violation": self.violation,
            "approvals": [] if denied else self.approvals,
            "suppressed": self.suppressed,
            "faults": self.faults,
            "effects": self.effects.outcome(),
        }
