-- R9: a seat that the house keeps back is in a house hold of its event that has not ended, and returns to sale when it does.
SELECT format('event %s seat %s is kept back until %s, its house hold %s says %s', s.event_id, s.seat_no,
              coalesce(s.hold_expires_at::text, 'released'), h.house_hold_id, coalesce(h.release_at::text, 'released'))
       AS detail
  FROM seats s
  LEFT JOIN house_hold_seats k ON k.event_id = s.event_id AND k.seat_no = s.seat_no
  LEFT JOIN house_holds h ON h.house_hold_id = k.house_hold_id
 WHERE s.status = 4 AND s.holder = 3
   AND (h.house_hold_id IS NULL OR h.event_id <> s.event_id OR h.released_at IS NOT NULL
        OR h.release_at IS DISTINCT FROM s.hold_expires_at)
