-- R3: all or nothing. A hold whose time runs, or that is being paid, owns every one of its seats.
SELECT format('hold %s is %s and does not own seat %s', h.hold_id, h.status, own.seat_no) AS detail
  FROM holds h
  CROSS JOIN unnest(h.seats) AS own (seat_no)
  LEFT JOIN seats s ON s.event_id = h.event_id AND s.seat_no = own.seat_no
 WHERE (h.status = 'HELD' AND h.expires_at > booking_now()
            AND (s.hold_id IS DISTINCT FROM h.hold_id OR s.status IS DISTINCT FROM 1))
    OR (h.status = 'PAYMENT_PENDING' AND (s.hold_id IS DISTINCT FROM h.hold_id OR s.status IS DISTINCT FROM 2))
