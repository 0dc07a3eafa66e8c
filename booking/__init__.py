"""The booking system: the authority over seats and money, its workers, and the programs around it."""
