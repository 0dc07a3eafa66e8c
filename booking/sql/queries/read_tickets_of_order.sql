SELECT t.ticket_id, t.order_id, t.code, t.status, l.seat_no, l.amount_minor, o.currency,
       coalesce(ps.section, '') AS section, coalesce(ps.row_label, '') AS row_label, coalesce(ps.number, '') AS number,
       coalesce(pt.name, '') AS price_type_name
  FROM tickets t
  JOIN order_seats l ON l.order_id = t.order_id AND l.seat_no = t.seat_no
  JOIN orders o ON o.order_id = t.order_id
  JOIN events e ON e.event_id = l.event_id
  LEFT JOIN plan_seats ps ON ps.plan_id = e.plan_id AND ps.version = e.plan_version AND ps.seat_no = l.seat_no
  LEFT JOIN price_types pt ON pt.event_id = l.event_id AND pt.price_type_id = l.price_type_id
 WHERE t.order_id = $1
 ORDER BY t.seat_no, t.ticket_id
