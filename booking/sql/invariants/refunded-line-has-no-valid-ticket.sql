-- R25: the tickets and lines of an act that was accepted have ended (P17): no ticket of them counts, no seat of them is sold.
SELECT format('the %s %s was accepted and ticket %s is %s', a.kind, a.money_back_id, t.ticket_id, t.status) AS detail
  FROM money_backs a JOIN money_back_lines l USING (money_back_id)
  JOIN tickets t ON t.order_id = l.order_id AND (t.seat_no = l.seat_no OR t.place_no = l.place_no)
 WHERE a.status = 'ACCEPTED' AND t.status <> 'VOID'
UNION ALL
SELECT format('the %s %s was accepted and seat %s, place %s of its order %s is valid', a.kind, a.money_back_id, l.seat_no,
              l.place_no, a.order_id)
  FROM money_backs a JOIN money_back_lines l USING (money_back_id)
  LEFT JOIN order_seats s ON s.order_id = l.order_id AND s.seat_no = l.seat_no
  LEFT JOIN order_places g ON g.order_id = l.order_id AND g.place_no = l.place_no
 WHERE a.status = 'ACCEPTED' AND coalesce(s.valid, g.valid)
UNION ALL
SELECT format('the %s %s was accepted and seat %s is still sold by its order %s', a.kind, a.money_back_id, l.seat_no, a.order_id)
  FROM money_backs a JOIN money_back_lines l USING (money_back_id)
  JOIN seats s ON s.event_id = a.event_id AND s.seat_no = l.seat_no
 WHERE a.status = 'ACCEPTED' AND s.order_id = a.order_id
