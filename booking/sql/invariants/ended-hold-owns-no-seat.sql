-- R5: a hold that has ended owns no seat.
SELECT format('hold %s is %s and still owns seat %s of event %s', h.hold_id, h.status, s.seat_no, s.event_id) AS detail
  FROM seats s JOIN holds h USING (hold_id)
 WHERE h.status NOT IN ('HELD', 'PAYMENT_PENDING')
