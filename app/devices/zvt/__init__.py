"""ZVT over TCP: the German, Austrian and Swiss card-terminal protocol (PA00P015), without any I/O until `driver`.

`codec` frames and numbers, `fields` and `tlv` the data inside frames, `messages` what the till says and hears,
`exchange` the course of one command as a state machine, `results` what its end means for the money, `driver` the TCP
client, `simulator` a terminal to talk to.
"""
