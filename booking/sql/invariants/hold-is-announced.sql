-- R3: each hold, and each confirmation, went into the outbox in its own transaction, once. The outbox begins where
-- retention has cut it, by id: beside the cut a time may be on either side, so that minute is left out.
WITH begun AS MATERIALIZED (
    SELECT min(o.created_at) + CASE WHEN min(o.created_at) < booking_now() - interval '1 hour'
                                    THEN interval '1 minute' ELSE interval '0' END AS at
      FROM outbox o
)
SELECT format('hold %s has %s outbox rows', h.hold_id, count(x.id)) AS detail
  FROM holds h
  LEFT JOIN outbox x ON x.aggregate_id = h.hold_id AND x.type = 'seats-held' AND x.seats = h.seats
 WHERE h.created_at >= (SELECT b.at FROM begun b) AND h.seats <> '{}'
 GROUP BY h.hold_id HAVING count(x.id) <> 1
UNION ALL
SELECT format('the %s places of hold %s have %s outbox rows', h.places, h.hold_id, count(x.id))
  FROM holds h
  LEFT JOIN outbox x ON x.aggregate_id = h.hold_id AND x.type = 'places-changed' AND x.payload ->> 'change' = 'held'
 WHERE h.created_at >= (SELECT b.at FROM begun b) AND h.places > 0
 GROUP BY h.hold_id HAVING count(x.id) <> 1
UNION ALL
SELECT format('order %s has %s confirmations in the outbox', o.order_id, count(x.id))
  FROM orders o LEFT JOIN outbox x ON x.aggregate_id = o.order_id AND x.type = 'order-confirmed'
 WHERE o.confirmed_at IS NOT NULL AND o.confirmed_at >= (SELECT b.at FROM begun b)
 GROUP BY o.order_id HAVING count(x.id) <> 1
