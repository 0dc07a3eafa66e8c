"""The waiting room: a program of its own, with a durable store of its own, that goes on when booking is away (R16–R21).

`line` (who is before whom), `event_room` (one event's room, without I/O), `store` (what survives a crash:
`sqlite_store` or `valkey_store`, chosen by `store_choice`, copied by `store_copy`), `house` (all rooms of this
process), `authority` (what is heard from booking), `web` and `routes` (HTTP).
The fairness contract is `docs/waiting-room.md`.
"""
