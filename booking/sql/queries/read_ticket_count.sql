-- How many valid lines an order has, and how many of them have a ticket that counts.
SELECT o.principal, o.status,
       (SELECT count(*) FROM order_seats l WHERE l.order_id = o.order_id AND l.valid)
       + (SELECT count(*) FROM order_places l WHERE l.order_id = o.order_id AND l.valid) AS lines,
       (SELECT count(*) FROM tickets t JOIN order_seats l USING (order_id, seat_no)
         WHERE t.order_id = o.order_id AND l.valid AND t.status <> 'VOID')
       + (SELECT count(*) FROM tickets t JOIN order_places l USING (order_id, place_no)
           WHERE t.order_id = o.order_id AND l.valid AND t.status <> 'VOID') AS tickets
  FROM orders o
 WHERE o.order_id = $1
