"""The console: what box-office clerks, ops and supervisors work with.

Layers, lowest first: `i18n` and `settings`; `core` (what the console knows); `devices` and `journal`; `actions` (what
a person can do), `bridge` (where Qt and asyncio meet) and `models`; `screens`; `main` (wires objects); `tour`.
"""
