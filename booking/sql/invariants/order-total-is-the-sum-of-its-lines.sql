-- R10: the server's own total, of lines at the order's price version.
SELECT format('order %s: total %s, lines %s', o.order_id, o.amount_minor, coalesce(sum(l.amount_minor), 0)) AS detail
  FROM orders o LEFT JOIN order_seats l USING (order_id)
 GROUP BY o.order_id HAVING o.amount_minor <> coalesce(sum(l.amount_minor), 0)
