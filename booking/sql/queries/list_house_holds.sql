-- $1 event_id, $2 house_hold_id or NULL for all of the event. Where the labels are comes with each row.
SELECT h.house_hold_id, h.event_id, h.kind, h.reason, h.release_at, h.created_at, h.created_by, h.released_at,
       seats_of_house_hold(h.house_hold_id) AS seats, e.plan_id, e.plan_version
  FROM house_holds h JOIN events e USING (event_id)
 WHERE ($1::integer IS NULL OR h.event_id = $1) AND ($2::uuid IS NULL OR h.house_hold_id = $2)
 ORDER BY h.created_at, h.house_hold_id
