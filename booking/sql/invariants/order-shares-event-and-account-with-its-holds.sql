-- R3, R39: the seats of a hold are one event's and one account's: an order is of the event and the account of its holds.
SELECT format('order %s is of %s in event %s, its hold %s of %s in event %s', o.order_id, o.principal, o.event_id,
              h.hold_id, h.principal, h.event_id) AS detail
  FROM orders o JOIN order_holds oh USING (order_id) JOIN holds h USING (hold_id)
 WHERE o.event_id <> h.event_id OR o.principal <> h.principal OR o.channel <> h.channel
UNION ALL
SELECT format('order %s of event %s has seat %s of event %s', o.order_id, o.event_id, l.seat_no, l.event_id)
  FROM orders o JOIN order_seats l USING (order_id)
 WHERE o.event_id <> l.event_id
