"""Device drivers: codecs byte for byte, and drivers against simulators."""
