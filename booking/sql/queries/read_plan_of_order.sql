SELECT e.plan_id, e.plan_version FROM orders o JOIN events e USING (event_id) WHERE o.order_id = $1
