"""Windows: they build, bind and forward. What is decided is decided in `actions` and `core`."""
