"""How soon a change reaches another console."""
