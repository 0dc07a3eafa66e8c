-- $1 venue_id. All versions of all its plans, by name, the newest first.
SELECT plan_id, name, version, seat_count, created_at FROM plans WHERE venue_id = $1 ORDER BY name, plan_id, version DESC
