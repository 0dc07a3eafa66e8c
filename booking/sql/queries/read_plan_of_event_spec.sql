-- $1 plan_id, $2 version. What an event takes over from its plan.
SELECT venue_id, seat_count, document FROM plans WHERE plan_id = $1 AND version = $2
