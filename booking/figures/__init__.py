"""Figures of the whole system, once a second (R20, R32, R42): a collector in each process, one of them adds up.

Every process counts what it does (`meter`) and leaves its part in `process_figures` once a second (`collector`). One of
them, whoever has the lease, reads what only the database knows (`house`, `lock_waits`), adds all parts up (`sums`),
looks for alarms, and keeps the second (`watch`). Whoever wants to know reads the newest second; nobody needs anything
but PostgreSQL, and a process that cannot reach it still knows its own part and since when it has heard nothing.
"""
