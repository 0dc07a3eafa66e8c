SELECT admission FROM events WHERE event_id = $1
