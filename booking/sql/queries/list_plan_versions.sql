-- $1 venue_id, $2 plan name. All versions of the plan, oldest first.
SELECT plan_id, version, digest FROM plans WHERE venue_id = $1 AND name = $2 ORDER BY version
