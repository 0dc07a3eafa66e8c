-- A place has no seat: its tier stands where the section does, and its seat number is -1.
SELECT t.ticket_id, t.order_id, t.code, t.status, coalesce(l.seat_no, -1) AS seat_no, place.tier_id,
       is_refund_pending(t) AS refund_pending,
       coalesce(l.amount_minor, place.amount_minor) AS amount_minor, o.currency,
       coalesce(place.name, ps.section, '') AS section, coalesce(ps.row_label, '') AS row_label, coalesce(ps.number, '') AS number,
       coalesce(ps.row_kind, '') AS row_kind,
       coalesce(pt.name, '') AS price_type_name
  FROM tickets t
  JOIN orders o ON o.order_id = t.order_id
  JOIN events e ON e.event_id = o.event_id
  LEFT JOIN order_seats l ON l.order_id = t.order_id AND l.seat_no = t.seat_no
  LEFT JOIN LATERAL (SELECT p.tier_id, p.amount_minor, p.price_type_id, g.name
                       FROM order_places p JOIN ga_tiers g USING (event_id, tier_id, bucket)
                      WHERE p.order_id = t.order_id AND p.place_no = t.place_no) place ON true
  LEFT JOIN plan_seats ps ON ps.plan_id = e.plan_id AND ps.version = e.plan_version AND ps.seat_no = l.seat_no
  LEFT JOIN price_types pt ON pt.event_id = o.event_id
       AND pt.price_type_id = coalesce(l.price_type_id, place.price_type_id)
 WHERE t.order_id = $1
 ORDER BY t.seat_no, t.place_no, t.ticket_id
