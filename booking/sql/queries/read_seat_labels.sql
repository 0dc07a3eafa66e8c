SELECT ps.seat_no, ps.section, ps.row_label, ps.number, ps.row_kind
  FROM plan_seats ps
 WHERE ps.plan_id = $1 AND ps.version = $2 AND ps.seat_no BETWEEN $3 AND $4
