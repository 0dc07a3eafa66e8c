"""Every way that money moves × everything that can go wrong on the way: one cell each, or the reason why there is none.

`table` says which pairs are cells. `cells_of_providers` and `cells_of_tills` play them, `books` compares the other
side's own ledger with ours afterwards. Processes that die are real ones, killed by SIGKILL at a named step (`deaths`).
"""
