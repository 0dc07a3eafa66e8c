"""A small HTTP/1.1 client for JSON calls, for where a general client would use more CPU than the work itself."""
