-- $1 venue name, $2 event name.
SELECT e.event_id FROM events AS e JOIN venues AS v USING (venue_id) WHERE v.name = $1 AND e.name = $2 LIMIT 1
