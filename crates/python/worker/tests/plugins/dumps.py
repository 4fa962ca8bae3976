"""Values of every kind that a plugin may put into a result, and what pydantic makes of each."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import pathlib
import uuid

from cpex.framework import Plugin, PluginResult
from pydantic import AnyHttpUrl, BaseModel, Field, RootModel, SecretStr


class Colour(str, enum.Enum):
    """An enum of text."""

    RED = "red"


class Level(enum.IntEnum):
    """An enum of numbers."""

    HIGH = 3


class Plain(enum.Enum):
    """An enum of anything."""

    DAY = datetime.date(2020, 1, 2)


class Inner(BaseModel):
    """A model with an alias, a default and a secret."""

    width: int = Field(alias="wideness")
    note: str | None = None
    day: datetime.date = datetime.date(2021, 3, 4)
    word: SecretStr = SecretStr("never told")


@dataclasses.dataclass
class Point:
    """A dataclass."""

    x: int
    when: datetime.date


Pair = collections.namedtuple("Pair", "a b")
ZONE = datetime.timezone(datetime.timedelta(hours=2))

VALUES = {
    "bytes": b"abc \xc3\xa9",
    "bytearray": bytearray(b"abc"),
    "date": datetime.date(2020, 1, 2),
    "time": datetime.time(3, 4, 5, 600),
    "naive datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, 678900),
    "utc datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
    "zoned datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=ZONE),
    "timedelta": datetime.timedelta(days=1, seconds=2, milliseconds=3),
    "decimal": decimal.Decimal("1.50"),
    "large decimal": decimal.Decimal("1E+3"),
    "set": {7},
    "frozenset": frozenset(("a",)),
    "set of enums": {Colour.RED},
    "tuple": (1, "a", (2.5, None)),
    "namedtuple": Pair(1, datetime.date(2020, 1, 2)),
    "deque": collections.deque([1, 2]),
    "ordered": collections.OrderedDict(b=1, a=2),
    "text enum": Colour.RED,
    "number enum": Level.HIGH,
    "other enum": Plain.DAY,
    "uuid": uuid.UUID(int=5),
    "path": pathlib.Path("/a/b"),
    "fraction": fractions.Fraction(1, 3),
    "address": ipaddress.ip_address("127.0.0.1"),
    "url": AnyHttpUrl("http://h"),
    "secret": SecretStr("never told"),
    "model": Inner(wideness=2),
    "root model": RootModel[list[int]]([1]),
    "dataclass": Point(1, datetime.date(2020, 1, 2)),
    "number keys": {1: "a", 2.5: "b", True: "c", None: "d"},
    "other keys": {datetime.date(2020, 1, 2): 1, uuid.UUID(int=6): 2, Colour.RED: 3, b"k": 4, (1, 2): 5},
    "bool key": {False: 1},
    "large integer": 2**70,
    "nested": [{"deep": ({b"x": {Level.HIGH: b"y"}},)}],
    "text": "text é \U0001f600",
}
# What pydantic itself refuses to dump as JSON, or dumps as something that is not JSON.
REFUSED = {
    "not utf-8": b"\xff",
    "not utf-8 in depth": {"a": [b"ok", b"\xfe"]},
    "object": object(),
    "pure path": pathlib.PurePosixPath("/a"),
    "nan": float("nan"),
    "infinite in depth": [{"a": (float("-inf"),)}],
    "lone surrogate": "\ud800",
    "lone surrogate in a key": {"\udfff": 1},
    "colliding keys": {1: "a", "1": "b"},
    "colliding keys of other kinds": [{Colour.RED: 1, "x": 1, datetime.date(2020, 1, 2): 2, "2020-01-02": 3}],
}


class Dumps(Plugin):
    """Puts the value that the arguments name where they say."""

    async def tool_pre_invoke(self, payload, context):
        """In the payload, the metadata, the details of a violation or a custom extension."""
        name, where = payload.args["name"], payload.args["where"]
        value = VALUES[name] if name in VALUES else REFUSED[name]
        if where == "dump":
            dumped = PluginResult(metadata={"value": value}).model_dump(mode="json")["metadata"]["value"]
            return PluginResult(metadata={"text": json.dumps(dumped)})
        if where == "metadata":
            return PluginResult(metadata={"value": value})
        return PluginResult(modified_payload=payload.model_copy(update={"args": {**payload.args, "value": value}}))

    async def tool_post_invoke(self, payload, context):
        """The names."""
        return PluginResult(metadata={"values": list(VALUES), "refused": list(REFUSED)})
