"""What the figures of the whole system cost those who are measured."""
