"""The real windows, driven by hand in this process, on the real stack of processes (R40)."""
