"""`mcpgateway.config` where the gateway is not installed: its settings at their defaults, under the given ones."""

from functools import lru_cache

from pydantic import HttpUrl, SecretStr, TypeAdapter, ValidationError

from hookgate_worker import gateway
from hookgate_worker.gateway_defaults import ADDRESSES, NO_DEFAULT, SECRETS, defaults

# Two names of one setting, as the gateway reads them from its environment.
_OTHER_NAMES = {"environment": "deployment_env"}


class SettingsError(ValueError):
    """A given setting that is not what the gateway's setting of that name can be."""


class Settings:
    """The gateway's settings as attributes.

    Given names count in any case, as the gateway reads its environment; attributes are in lower case, as there.
    A name that the gateway does not have is an attribute only if it is given.
    """

    def __init__(self, **given):
        table = defaults()
        for name in SECRETS & table.keys():
            if table[name] is not None:
                table[name] = SecretStr(table[name])
        for name in ADDRESSES:
            if table[name] is not None:
                table[name] = HttpUrl(table[name])
        fitted = {name.lower(): _fitted(name, value, table) for name, value in given.items()}
        for name, other in _OTHER_NAMES.items():
            if name in fitted:
                fitted.setdefault(other, fitted[name])
        table.update(fitted)
        if "jwt_secret_key" in table:
            table.setdefault("csrf_secret_key", table["jwt_secret_key"])
        self.__dict__.update(table)

    def __getattr__(self, name):
        raise AttributeError(_unknown(name, self.__dict__))

    def model_dump(self):
        """The settings as a dictionary."""
        return dict(self.__dict__)


class LazySettings:
    """Makes the settings when the first is read; what is set on it counts from then on."""

    @property
    def plugins(self):
        """The framework's own settings."""
        from cpex.framework.settings import settings as of_framework

        return of_framework

    def __getattr__(self, name):
        return getattr(get_settings(), name)


@lru_cache
def get_settings(**given):
    """The settings, made once; `given` goes over what the plugin's entry gives."""
    return Settings(**{**gateway.given_settings(), **given})


def check(given):
    """SettingsError for a given setting that does not fit the gateway's."""
    Settings(**given)


settings = LazySettings()


def _fitted(given_name, value, table):
    """A given value as the kind of the default, as far as pydantic reads it as that."""
    name = given_name.lower()
    default = table.get(name)
    if name in SECRETS:
        kind = SecretStr if name in NO_DEFAULT else SecretStr | None
    elif name in ADDRESSES:
        kind = HttpUrl | None
    elif default is None:
        return value
    else:
        kind = type(default)
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise SettingsError(
            f"the gateway's setting '{given_name}' is {type(value).__name__}, {_named(kind)} is possible: {found}\n"
            f"hint: python: {{settings: {{{given_name}: {_example(default)}}}}}"
        ) from None


def _named(kind):
    return getattr(kind, "__name__", str(kind))


def _example(default):
    """A default as it may stand in the configuration."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, (set, list)):
        return "[...]"
    return default if isinstance(default, (int, float)) else "..."


def _unknown(name, table):
    hint = f"hint: python: {{settings: {{{name}: ...}}}}"
    if name in NO_DEFAULT:
        return f"the gateway's setting '{name}' is a secret that has no default here\n{hint}"
    if name.lower() in table:
        return f"the gateway has no setting '{name}', '{name.lower()}' is possible"
    return f"the gateway has no setting '{name}', one of hookgate's table or a given one is possible\n{hint}"


__all__ = ["Settings", "get_settings", "settings"]
