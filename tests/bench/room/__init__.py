"""One process of the waiting room: joins and polls a second, CPU of each, memory of a waiting visitor."""
