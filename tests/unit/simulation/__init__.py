"""The simulations: the law of admission, and the opening of two million visitors."""
