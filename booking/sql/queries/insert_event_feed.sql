-- $1 event_id. The feed of an event begins with the event.
INSERT INTO event_feed (event_id) VALUES ($1)
