"""The durable local journal of one counter, and where credentials are kept. I/O, no Qt.

`Journal` is plain and synchronous, for one thread; `AsyncJournal` lets coroutines await it wherever it lives.
"""
