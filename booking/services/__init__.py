"""One module for each business activity, one transaction each. README.md states the locking rules on one page."""
