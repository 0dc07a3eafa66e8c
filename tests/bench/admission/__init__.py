"""How fast general-admission places are claimed: the lane, one call each, and the two ways of the documents."""
