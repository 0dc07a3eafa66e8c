"""The charts of operators: what a second costs the interface's thread, against pyqtgraph with the same curves."""
