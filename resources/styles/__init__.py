"""The one theme file: colours, spacing, type."""
