-- Orders as the wire shows them; lines, holds and operations as JSON, labels of the seats beside them.
SELECT o.order_id, o.event_id, o.number, o.status, o.amount_minor, o.currency, o.price_version, o.principal, o.created_at,
       CASE WHEN o.status IN ('PENDING', 'RECONCILING') THEN deadline_of_order(o.order_id) END AS pay_until,
       booking_now() AS server_time,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'seat', jsonb_build_object('seat_no', l.seat_no, 'section', coalesce(ps.section, ''),
                                              'row', coalesce(ps.row_label, ''), 'number', coalesce(ps.number, '')),
                   'price_type_id', l.price_type_id, 'price_type_name', coalesce(pt.name, ''),
                   'amount_minor', l.amount_minor) ORDER BY l.seat_no), '[]')
          FROM order_seats l
          JOIN events e ON e.event_id = l.event_id
          LEFT JOIN plan_seats ps ON ps.plan_id = e.plan_id AND ps.version = e.plan_version AND ps.seat_no = l.seat_no
          LEFT JOIN price_types pt ON pt.event_id = l.event_id AND pt.price_type_id = l.price_type_id
         WHERE l.order_id = o.order_id)::text AS lines,
       ARRAY(SELECT oh.hold_id FROM order_holds oh WHERE oh.order_id = o.order_id ORDER BY oh.hold_id) AS hold_ids
  FROM orders o
 WHERE o.order_id = ANY ($1::uuid[])
