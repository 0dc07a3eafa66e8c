-- R3, R39: the seats of a hold share its event and its expiry.
SELECT format('event %s seat %s and its hold %s differ', s.event_id, s.seat_no, s.hold_id) AS detail
  FROM seats s
  LEFT JOIN holds h ON h.hold_id = s.hold_id
 WHERE s.hold_id IS NOT NULL
   AND (h.hold_id IS NULL OR h.event_id <> s.event_id OR h.expires_at <> s.hold_expires_at
        OR NOT s.seat_no = ANY (h.seats) OR h.price_version <> s.price_version)
