-- R25: a line of an order that was confirmed ends by an act that says who and why, and by nothing else.
SELECT format('seat %s of order %s is not valid, and nobody refunded or cancelled it', s.seat_no, s.order_id) AS detail
  FROM order_seats s JOIN orders o USING (order_id)
 WHERE o.confirmed_at IS NOT NULL AND NOT s.valid
   AND NOT EXISTS (SELECT FROM money_back_lines l JOIN money_backs a USING (money_back_id)
                    WHERE l.order_id = s.order_id AND l.seat_no = s.seat_no AND a.status = 'ACCEPTED')
UNION ALL
SELECT format('place %s of order %s is not valid, and nobody refunded or cancelled it', g.place_no, g.order_id)
  FROM order_places g JOIN orders o USING (order_id)
 WHERE o.confirmed_at IS NOT NULL AND NOT g.valid
   AND NOT EXISTS (SELECT FROM money_back_lines l JOIN money_backs a USING (money_back_id)
                    WHERE l.order_id = g.order_id AND l.place_no = g.place_no AND a.status = 'ACCEPTED')
