"""What the policies do, stated as plainly as possible; the script's ops are in `script`.

A policy is a function of (hook, payload, config, call) that returns an `Answer` or raises `Failed`.
It reads the payload as received and never changes it; changes are edits.
"""

from oracle.answer import Answer, violation
from oracle.door import SUBJECTS
from oracle.ijson import escape
from oracle.script import script

def string_values(value, at=""):
    """Every string value with its pointer, in document order; keys are not values."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from string_values(item, f"{at}/{escape(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from string_values(item, f"{at}/{index}")


def ascii_lower(text):
    """Lower case for A to Z and nothing else."""
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in text)


def deny_list(hook, payload, config, call):
    """Denies at the first string that holds a word: leftmost occurrence, ties to the earlier word."""
    fold = ascii_lower if config.get("ignore_ascii_case", False) else str
    for at, text in string_values(payload):
        folded = fold(text)
        found = []
        for rank, word in enumerate(config["words"]):
            start = folded.find(fold(word))
            if start >= 0:
                found.append((start, rank, word))
        if found:
            word = min(found)[2]
            return Answer("deny", violation("DENY_WORD", "denied word", f"'{word}' at {at}", {"word": word, "at": at}))
    return Answer()


def redact(text, words, replacement):
    """Left to right: the first word of the list that starts here is replaced, then on behind it."""
    done, at, kept = [], 0, 0
    starts = {word[0] for word in words}
    while at < len(text):
        word = text[at] in starts and next((word for word in words if text.startswith(word, at)), None)
        if word:
            done += [text[kept:at], replacement]
            at += len(word)
            kept = at
        else:
            at += 1
    return "".join(done) + text[kept:]


def redactor(hook, payload, config, call):
    """Redacts every string value but the hook's own subject."""
    subject = SUBJECTS.get(hook)
    edits = []
    for at, text in string_values(payload):
        if subject is not None and at == f"/{subject}":
            continue
        new = redact(text, config["words"], config.get("replacement", "[redacted]"))
        if new != text:
            edits.append(("set", at, new))
    return Answer(edits=edits)


POLICIES = {"deny-list": deny_list, "redactor": redactor, "script": script}
