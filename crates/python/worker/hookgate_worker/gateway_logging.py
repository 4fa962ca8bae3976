"""`mcpgateway.services.logging_service` where the gateway is not installed: loggers whose text is the worker's log."""

import logging

# Python has no levels of these names; the nearest of its own take their place.
_NEAREST = {"NOTICE": "INFO", "ALERT": "CRITICAL", "EMERGENCY": "CRITICAL"}


class LoggingService:
    """Hands out loggers. What the gateway's own adds, storage and subscribers, has no place in a worker."""

    async def initialize(self):
        """Nothing: the worker's log is set up before any plugin is imported."""

    async def shutdown(self):
        """Nothing."""

    def get_logger(self, name):
        """The logger of that name."""
        return logging.getLogger(name)

    async def set_level(self, level):
        """Sets the least grave level that is logged; `level` is a LogLevel or its name."""
        logging.getLogger().setLevel(_level(level))

    async def notify(self, data, level="info", logger_name=None, **about):
        """Logs a message with what it is about."""
        text = f"{data} {about}" if about else data
        logging.getLogger(logger_name).log(_level(level), "%s", text)


def _level(level):
    name = str(getattr(level, "value", level)).upper()
    number = logging.getLevelName(_NEAREST.get(name, name))
    if not isinstance(number, int):
        raise ValueError(f"no log level is called {level!r}")
    return number


__all__ = ["LoggingService"]
