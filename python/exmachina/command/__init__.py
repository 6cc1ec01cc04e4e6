"""The command line: parses, calls and prints. Everything here can be done as shortly from Python."""
