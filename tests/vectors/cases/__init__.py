"""The cases, one module for each JSON file. Each step says what its author expects of it."""
