"""The oracle (R38): a reference model, and a machine that drives it and the real API with the same random histories."""
