-- $1 venue_id or NULL for all.
SELECT venue_id, name, zone, booking_now() AS server_time FROM venues WHERE $1::uuid IS NULL OR venue_id = $1
 ORDER BY name, venue_id
