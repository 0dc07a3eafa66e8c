"""How fast seats are held: the lane and the API against one function call a hold, on one server, in one run."""
