"""Icons of the program."""
