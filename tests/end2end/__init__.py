"""Real processes, from outside: nothing here imports the console."""
