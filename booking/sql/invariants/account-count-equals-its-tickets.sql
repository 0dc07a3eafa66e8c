-- B4: the stored count equals the counted rows.
SELECT format('%s in event %s: %s counted, %s stored', coalesce(a.principal, c.principal),
              coalesce(a.event_id, c.event_id), coalesce(c.seats, 0), coalesce(a.sold, 0)) AS detail
  FROM account_limits a
  FULL JOIN (SELECT o.event_id, o.principal, count(*) AS seats
               FROM orders o
               JOIN (SELECT s.order_id, s.valid FROM order_seats s
                     UNION ALL SELECT p.order_id, p.valid FROM order_places p) l USING (order_id)
              WHERE l.valid GROUP BY 1, 2) c
    ON c.event_id = a.event_id AND c.principal = a.principal
 WHERE coalesce(a.sold, 0) <> coalesce(c.seats, 0)
