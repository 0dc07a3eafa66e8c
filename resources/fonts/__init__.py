"""Bundled fonts and their licences."""
