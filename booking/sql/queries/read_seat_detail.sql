-- $1 event_id, $2 seat_no, $3 how much history at most. A hold whose time is over holds nothing (R5): is_free says so.
SELECT e.event_id, e.currency, ps.section, ps.row_label, ps.number, ps.row_kind, ps.category_no, ps.flags,
       coalesce(c.name, '') AS category_name, s.status, s.holder, s.printed, s.used,
       seat_is_free(s.status, s.hold_expires_at, n.now) AS is_free, s.hold_expires_at AS until, n.now AS server_time,
       s.hold_id, h.created_at AS held_at,
       seat_actor(e.event_id, h.principal, h.device_id, h.staff_id)::text AS hold_actor,
       s.order_id, o.number AS order_number, o.status AS order_status, o.created_at AS ordered_at, o.confirmed_at,
       seat_actor(e.event_id, o.principal, o.device_id, o.staff_id)::text AS order_actor,
       l.amount_minor, coalesce(pt.name, '') AS price_type_name, t.status AS ticket_status,
       k.house_hold_id, k.kind AS house_kind, k.reason AS house_reason, k.release_at, k.created_at AS kept_at,
       k.created_by AS kept_by,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('price_type_id', p.price_type_id, 'name', y.name,
                                                     'amount_minor', p.amount_minor) ORDER BY p.price_type_id), '[]')
          FROM prices p JOIN price_types y USING (event_id, price_type_id)
         WHERE p.event_id = e.event_id AND p.category_no = ps.category_no
           AND p.price_version = CASE WHEN s.status IN (1, 2, 3) AND NOT seat_is_free(s.status, s.hold_expires_at, n.now)
                                      THEN s.price_version ELSE e.price_version END)::text AS prices,
       -- Each person once, however often: names and marks cost more than all the rest.
       (WITH items AS MATERIALIZED (
            SELECT f.*, concat_ws(' ', f.principal, f.device_id, f.staff_id) AS actor
              FROM seat_history(e.event_id, $2, $3) f ORDER BY f.at DESC, f.rank DESC LIMIT $3 + 1),
        actors AS MATERIALIZED (
            SELECT d.actor, seat_actor(e.event_id, d.principal, d.device_id, d.staff_id) AS by
              FROM (SELECT DISTINCT ON (i.actor) i.* FROM items i WHERE i.actor <> '') d)
        SELECT coalesce(jsonb_agg(jsonb_build_object('at', i.at, 'kind', i.kind, 'by', a.by, 'hold_id', i.hold_id,
                                                     'order_id', i.order_id) || jsonb_strip_nulls(i.more)
                                  ORDER BY i.at, i.rank), '[]')
          FROM items i LEFT JOIN actors a USING (actor))::text AS history
  FROM events e
 CROSS JOIN LATERAL (SELECT booking_now() AS now OFFSET 0) n
  JOIN plan_seats ps ON ps.plan_id = e.plan_id AND ps.version = e.plan_version AND ps.seat_no = $2
  JOIN seats s ON s.event_id = e.event_id AND s.seat_no = $2
  LEFT JOIN price_categories c ON c.event_id = e.event_id AND c.category_no = ps.category_no
  LEFT JOIN holds h ON h.hold_id = s.hold_id
  LEFT JOIN orders o ON o.order_id = s.order_id
  LEFT JOIN order_seats l ON l.order_id = s.order_id AND l.seat_no = $2
  LEFT JOIN price_types pt ON pt.event_id = e.event_id AND pt.price_type_id = l.price_type_id
  LEFT JOIN tickets t ON t.order_id = s.order_id AND t.seat_no = $2 AND t.status <> 'VOID'
  LEFT JOIN house_hold_seats hs ON s.status = 4 AND hs.event_id = e.event_id AND hs.seat_no = $2
  LEFT JOIN house_holds k ON k.house_hold_id = hs.house_hold_id
 WHERE e.event_id = $1
