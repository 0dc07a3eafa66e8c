SELECT e.plan_id, e.plan_version, e.orphan_rule FROM events e WHERE e.event_id = $1
