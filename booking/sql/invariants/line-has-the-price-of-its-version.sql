-- R10: each line costs what the order's price version says for the seat's category and the line's price type. A seat whose
-- order or line has ended may have come into another category since, by a change of plan.
SELECT format('order %s seat %s costs %s, the price is %s', o.order_id, l.seat_no, l.amount_minor, p.amount_minor)
       AS detail
  FROM orders o
  JOIN order_seats l USING (order_id)
  JOIN events e ON e.event_id = o.event_id
  LEFT JOIN plan_seats ps ON ps.plan_id = e.plan_id AND ps.version = e.plan_version AND ps.seat_no = l.seat_no
  LEFT JOIN prices p ON p.event_id = o.event_id AND p.price_version = o.price_version
       AND p.category_no = ps.category_no AND p.price_type_id = l.price_type_id
 WHERE p.amount_minor IS DISTINCT FROM l.amount_minor
   AND NOT ((o.status IN ('CANCELLED', 'EXPIRED', 'REFUNDED') OR o.confirmed_at IS NOT NULL AND NOT l.valid)
            AND EXISTS (SELECT FROM audit_log a WHERE a.action = 'plan-changed' AND a.subject = e.event_id::text
                           AND a.at >= o.created_at))
