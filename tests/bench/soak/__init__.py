"""An hour of changes on one console: whether memory stays flat and the loop keeps turning."""
