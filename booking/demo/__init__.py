"""The demo: the whole system on one machine, as the separate processes it is made of, from an empty folder."""
