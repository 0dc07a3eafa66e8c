"""Widgets and screens, offscreen."""
