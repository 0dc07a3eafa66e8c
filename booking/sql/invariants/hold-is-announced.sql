-- R3: each hold, and each confirmation, went into the outbox in its own transaction, once. The outbox begins where
-- retention has cut it, by id: beside the cut a time may be on either side, so that minute is left out.
WITH begun AS MATERIALIZED (
    SELECT min(o.created_at) + CASE WHEN min(o.created_at) < booking_now() - interval '1 hour'
                                    THEN interval '1 minute' ELSE interval '0' END AS at
      FROM outbox o
)
-- Counted together and not joined: a join of tables that nobody has analysed may compare each hold with each row.
SELECT format('hold %s has %s outbox rows', told.hold_id, sum(told.told)) AS detail
  FROM (SELECT h.hold_id, h.seats, 1 AS held, 0 AS told FROM holds h
         WHERE h.created_at >= (SELECT b.at FROM begun b) AND h.seats <> '{}'
        UNION ALL
        SELECT x.aggregate_id, x.seats, 0, 1 FROM outbox x WHERE x.type = 'seats-held') told
 GROUP BY told.hold_id, told.seats HAVING sum(told.held) = 1 AND sum(told.told) <> 1
UNION ALL
SELECT format('the places of hold %s have %s outbox rows', told.hold_id, sum(told.told))
  FROM (SELECT h.hold_id, 1 AS held, 0 AS told FROM holds h
         WHERE h.created_at >= (SELECT b.at FROM begun b) AND h.places > 0
        UNION ALL
        SELECT x.aggregate_id, 0, 1 FROM outbox x
         WHERE x.type = 'places-changed' AND x.payload ->> 'change' = 'held') told
 GROUP BY told.hold_id HAVING sum(told.held) = 1 AND sum(told.told) <> 1
UNION ALL
SELECT format('order %s has %s confirmations in the outbox', o.order_id, count(x.id))
  FROM orders o LEFT JOIN outbox x ON x.aggregate_id = o.order_id AND x.type = 'order-confirmed'
 WHERE o.confirmed_at IS NOT NULL AND o.confirmed_at >= (SELECT b.at FROM begun b)
 GROUP BY o.order_id HAVING count(x.id) <> 1
