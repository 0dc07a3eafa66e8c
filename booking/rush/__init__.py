"""Opening-minute traffic against an API: open loop, bounded, with a report (R41).

Requests leave at the instants that were drawn for them, whether or not earlier ones have been answered, and latency
runs from that instant: a server that stalls is charged for everybody who would have come meanwhile (no coordinated
omission).

    command     the verb: the run, the result, the exit code
    options     its command line: what may be rushed
    plan        what a run is, as it is handed to the senders
    own_stack   a database, API, workers and sandbox of the run's own, and its event
    conductor   the sender processes: start, merge what they count, live progress, deadline
    sender      one process: the arrivals and the connections
    shopper     what one buyer does: hold, try again, check out, pay, look
    fan         the same through a waiting room: join, wait, the turn
    through_room  how the room is steered, a till at the counter, a slow database
    steered     how the steering went
    report      one HTML file with its charts inside; room_report its part about the room
"""
