-- An order with what of its money can go back, charge by charge, and why that of a ticket cannot. One statement, one snapshot.
SELECT j.principal, j.picture, e.max_refund_by_clerk_minor AS clerk_limit,
       (SELECT coalesce(json_agg(json_build_array(m.operation_id, m.kind, m.provider, m.card_brand, m.charged, m.refunded,
                                                  m.pending, m.refundable)), '[]')::text
          FROM money_of_order($1) m WHERE m.advice = 'goods-issued') AS charges,
       (SELECT coalesce(json_object_agg(t.ticket_id, why_not_refundable(t, $2)), '{}')::text
          FROM tickets t WHERE t.order_id = $1) AS why_not
  FROM orders_as_json(ARRAY[$1::uuid]) j
  JOIN orders o USING (order_id)
  JOIN events e USING (event_id)
