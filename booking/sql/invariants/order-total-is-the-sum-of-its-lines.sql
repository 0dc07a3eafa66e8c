-- R10: the server's own total, of lines at the order's price version.
SELECT format('order %s: total %s, lines %s', o.order_id, o.amount_minor, coalesce(sum(l.amount_minor), 0)) AS detail
  FROM orders o
  LEFT JOIN (SELECT s.order_id, s.amount_minor FROM order_seats s
             UNION ALL SELECT p.order_id, p.amount_minor FROM order_places p) l USING (order_id)
 GROUP BY o.order_id HAVING o.amount_minor <> coalesce(sum(l.amount_minor), 0)
