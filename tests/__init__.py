"""All tests; see CONTRIBUTING.md for what goes where."""
