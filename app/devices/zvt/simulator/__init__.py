"""A card terminal to talk to: ZVT over TCP, with scenarios, a stored ledger and a control port.

`python -m app.devices.zvt.simulator --scenario decline --state terminal.json --ready-file ready.json`
"""
