-- R8, B4: the tickets counted to a card in an event are those of the orders that it paid, or paid parts of; each once.
SELECT format('card %s in event %s: %s tickets counted, %s stored', coalesce(c.fingerprint, t.card),
              coalesce(c.event_id, t.event_id), coalesce(t.tickets, 0), coalesce(c.sold, 0)) AS detail
  FROM card_limits c
  FULL JOIN (SELECT k.event_id, k.card, count(*) AS tickets
               FROM (SELECT DISTINCT p.event_id, p.order_id, card_of(p) AS card FROM payment_operations p
                      WHERE p.kind IN ('authorize', 'sale') AND p.status = 'SUCCEEDED' AND p.advice = 'goods-issued'
                        AND p.card_fingerprint <> '') k
               JOIN (SELECT s.order_id FROM order_seats s WHERE s.valid
                     UNION ALL SELECT l.order_id FROM order_places l WHERE l.valid) line USING (order_id)
              GROUP BY 1, 2) t
    ON t.event_id = c.event_id AND t.card = c.fingerprint
 WHERE coalesce(c.sold, 0) <> coalesce(t.tickets, 0)
