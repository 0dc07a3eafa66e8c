-- Which plan version an event stands on, and the server's time.
SELECT plan_id, plan_version, booking_now() AS server_time FROM events WHERE event_id = $1
