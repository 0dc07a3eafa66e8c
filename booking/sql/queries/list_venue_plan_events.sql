-- $1 venue_id. The events on plans of the venue, by their start.
SELECT e.event_id, e.name, e.starts_at, e.zone, e.status, e.plan_id, e.plan_version, e.settings_version
  FROM events e JOIN plans p ON p.plan_id = e.plan_id AND p.version = e.plan_version
 WHERE p.venue_id = $1 ORDER BY e.starts_at, e.event_id
