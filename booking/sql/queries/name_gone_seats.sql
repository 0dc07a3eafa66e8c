-- $1 plan_id, $2 version. Seats without a place in this version (flags 8) are called as in the version before.
UPDATE plan_seats n SET section = o.section, row_label = o.row_label, row_kind = o.row_kind, number = o.number
  FROM plan_seats o
 WHERE n.plan_id = $1 AND n.version = $2 AND n.flags & 8 <> 0
   AND o.plan_id = $1 AND o.version = $2 - 1 AND o.seat_no = n.seat_no
