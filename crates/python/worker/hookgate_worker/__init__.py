"""Runs one legacy CPEX plugin for a host that speaks worker protocol 2 over a pair of pipes.

`main` owns the event loop and the frames, `start` loads the plugin, `hooks` finds its hooks, `calls` runs one
task per call, and the rest turns JSON into the framework's types and back.
"""
