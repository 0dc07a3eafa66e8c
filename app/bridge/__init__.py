"""Where Qt and asyncio meet: the loop, tasks that belong to objects, dialogs, crash reports, the device thread, and the
ticket printer that draws with Qt. Nothing else in the console imports qasync.
"""
