"""Reusable parts of windows: values in, signals out. They know resources and Qt, nothing of the console."""
