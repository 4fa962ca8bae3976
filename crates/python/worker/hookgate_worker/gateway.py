"""The package `mcpgateway` where the gateway is not installed: the framework's old name, and what plugins import.

`mcpgateway.plugins.framework` and its modules are the modules of `cpex.framework` themselves, so classes and
registries are the same ones under either name. Of the gateway's own modules those in `SUPPLIED` are there;
every other import says what would bring it. A gateway that is installed is left alone.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec

GATEWAY = "mcpgateway"
OLD_NAME = "mcpgateway.plugins.framework"
FRAMEWORK = "cpex.framework"
# What brings the gateway's own modules.
DISTRIBUTION = "mcp-contextforge-gateway"

# The modules that are supplied and whose public names they have; None for packages that only hold others.
SUPPLIED = {
    "mcpgateway": None,
    "mcpgateway.common": None,
    "mcpgateway.common.models": "hookgate_worker.gateway_models",
    "mcpgateway.config": "hookgate_worker.gateway_settings",
    # Where the models were up to release 0.8.
    "mcpgateway.models": "hookgate_worker.gateway_models",
    "mcpgateway.plugins": None,
    "mcpgateway.services": None,
    "mcpgateway.services.logging_service": "hookgate_worker.gateway_logging",
    "mcpgateway.utils": None,
    "mcpgateway.utils.primary_worker": "hookgate_worker.gateway_primary",
    "mcpgateway.utils.retry_manager": "hookgate_worker.gateway_http",
    "mcpgateway.utils.url_auth": "hookgate_worker.gateway_urls",
}

_given = {}


class NotSupplied(ModuleNotFoundError):
    """A module or a name of the gateway that only the gateway itself has."""


def install(settings=None):
    """Makes the package importable, once; `settings` are the gateway's settings that the plugin's entry gives."""
    if settings:
        _given.update(settings)
        from hookgate_worker.gateway_settings import check

        check(settings)
    if not any(isinstance(finder, GatewayFinder) for finder in sys.meta_path):
        # First, or the path of the framework's package would bring its modules a second time.
        sys.meta_path.insert(0, GatewayFinder())


def given_settings():
    """The settings that the plugin's entry gives."""
    return dict(_given)


def found_elsewhere(name, path=None):
    """What the environment and the plugin's folders have under a name, as a module spec or None."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is None or isinstance(finder, GatewayFinder):
            continue
        spec = find_spec(name, path)
        if spec is not None:
            return spec
    return None


class GatewayFinder:
    """Finds `mcpgateway` and what is below it, unless the gateway is installed."""

    def __init__(self):
        # Known once something asks for the gateway.
        self._installed = None

    def find_spec(self, name, path=None, target=None):
        """A spec for a name of the gateway; None for every other name."""
        if not name.startswith(GATEWAY):
            return None
        if name == GATEWAY:
            there = found_elsewhere(name)
            self._installed = there is not None and not _is_folder_only(there)
            return None if self._installed else _spec(name, there)
        # Unknown still, although something below is asked for: the gateway was there before this finder.
        if self._installed is not False or not name.startswith(GATEWAY + "."):
            return None
        if name == OLD_NAME or name.startswith(OLD_NAME + "."):
            return ModuleSpec(name, _Alias(FRAMEWORK + name[len(OLD_NAME) :]))
        # A plugin's own folder may be called like one of the gateway's.
        there = found_elsewhere(name, path) if path else None
        if there is not None and not _is_folder_only(there):
            return there
        if name in SUPPLIED:
            return _spec(name, there)
        if there is not None:
            return there
        raise NotSupplied(_missing(name), name=GATEWAY)


def _is_folder_only(spec):
    return spec.submodule_search_locations is not None and spec.origin is None


def _spec(name, there):
    spec = ModuleSpec(name, _Supplied(SUPPLIED[name]), origin="hookgate", is_package=True)
    # All are packages, also those without modules below: a name they do not have is then looked for as a module,
    # and the import says what is missing.
    spec.submodule_search_locations = list(there.submodule_search_locations) if there is not None else []
    return spec


def _missing(name):
    parent, _, last = name.rpartition(".")
    if SUPPLIED.get(parent):
        what = f"hookgate supplies {parent} without '{last}'"
    else:
        what = f"{name} is a service of the gateway that hookgate does not supply"
    return (
        f"{what}; the gateway itself has it where it is installed in the plugin's environment\n"
        f"hint: add {DISTRIBUTION} to `requirements`, or use a plugin that does without {name}"
    )


class _Supplied:
    """Makes a module of the public names of another."""

    def __init__(self, source):
        self._source = source

    def create_module(self, spec):
        """The interpreter's own way."""
        return None

    def exec_module(self, module):
        """Brings the names in."""
        if self._source is None:
            return
        source = import_module(self._source)
        module.__doc__ = source.__doc__
        module.__all__ = list(source.__all__)
        for name in source.__all__:
            setattr(module, name, getattr(source, name))


class _Alias:
    """Makes a name mean a module that has another."""

    def __init__(self, real_name):
        self._real_name = real_name

    def create_module(self, spec):
        """The interpreter's own way; the module it makes is dropped."""
        return None

    def exec_module(self, module):
        """Puts the real module in the place of the new one."""
        try:
            real = import_module(self._real_name)
        except ModuleNotFoundError as error:
            if error.name != self._real_name:
                raise
            raise NotSupplied(
                f"{module.__name__} is a part of the old framework that {FRAMEWORK} does not have", name=GATEWAY
            ) from None
        sys.modules[module.__name__] = real
