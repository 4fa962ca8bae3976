"""Loads the plugin a start frame names, and says at which stage it failed if it does."""

import os
import sys
from importlib import import_module

from hookgate_worker import gateway, grants
from hookgate_worker.grants import explained
from hookgate_worker.log_output import sendable, traceback_of


class StartFailed(Exception):
    """The plugin cannot be used; `stage` is framework, import, class, config or initialize."""

    def __init__(self, stage, message, cause=None):
        self.stage = stage
        self.traceback = traceback_of(cause) if cause is not None else ""
        super().__init__(sendable(message, 4096))


class Stage:
    """A block whose every exception, SystemExit included, becomes StartFailed of one stage."""

    def __init__(self, stage, asked):
        self._stage = stage
        self._asked = asked

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None or isinstance(error, (StartFailed, GeneratorExit)):
            return
        raise StartFailed(self._stage, f"{self._asked}: {explained(error)}", error) from error


class LoadedPlugin:
    """The plugin object, initialized, with the names a ready frame needs."""

    def __init__(self, plugin, hooks, served, framework):
        self.plugin = plugin
        self.hooks = hooks
        self.served = served
        self.framework = framework


async def load(message):
    """Loads, makes and initializes the plugin. Runs on the loop, so that the plugin may start tasks in it."""
    class_path, given = message["class"], message["plugin"]
    grants.confined = message.get("confined", False)
    with Stage("config", f"cannot work in directory '{message.get('workdir')}'"):
        if message.get("workdir"):
            # Before the framework is imported: it remembers the directory.
            os.chdir(message["workdir"])
    sys.path.extend(path for path in message.get("plugin_dirs") or () if path not in sys.path)
    with Stage("framework", "cannot import cpex.framework"):
        framework, version = import_module("cpex.framework"), _version()
        from cpex.framework.base import PluginRef
        from cpex.framework.hooks.registry import get_hook_registry  # noqa: F401  missing in other generations

        from hookgate_worker.hooks import Hooks
    with Stage("config", "the settings for the gateway's classes cannot be used"):
        gateway.install(message.get("settings"))
    plugin_class = _plugin_class(class_path)
    with Stage("config", "the plugin's entry does not fit the framework's PluginConfig"):
        config = framework.PluginConfig.model_validate(given)
    with Stage("initialize", f"cannot make a {class_path}"):
        # A copy, as at home: what the plugin does to its own is not what its reference reads.
        plugin = plugin_class(config.model_copy())
    with Stage("initialize", f"initialize() of {class_path} failed"):
        await plugin.initialize()
    hooks = Hooks(plugin, PluginRef(plugin, trusted_config=config))
    return LoadedPlugin(plugin, hooks, hooks.served(config.hooks), {"name": "cpex", "version": version})


def _plugin_class(class_path):
    module_name, _, class_name = class_path.rpartition(".")
    if not module_name:
        raise StartFailed(
            "class", f"'{class_path}' names no class, a module and a class are possible\nhint: package.module.Class"
        )
    with Stage("import", f"cannot import module '{module_name}'"):
        module = import_module(module_name)
    plugin_class = getattr(module, class_name, None)
    if isinstance(plugin_class, type):
        return plugin_class
    found = [name for name, value in vars(module).items() if _is_plugin_class(value, module_name)]
    raise StartFailed(
        "class",
        f"module '{module_name}' has no class '{class_name}', it has: {', '.join(found) or 'no plugin class'}",
    )


def _is_plugin_class(value, module_name):
    from cpex.framework.base import Plugin

    return isinstance(value, type) and issubclass(value, Plugin) and value.__module__ == module_name


def _version():
    from importlib import metadata

    try:
        return metadata.version("cpex")
    except metadata.PackageNotFoundError:
        return "unknown"
