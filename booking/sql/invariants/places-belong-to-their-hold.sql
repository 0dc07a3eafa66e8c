-- R3, R5: a hold has all its places or, once it has ended, none; in the state that it is in itself, until the same time.
SELECT format('hold %s is %s with %s places and owns %s of them in that state', h.hold_id, h.status, h.places,
              coalesce(sum(g.quantity), 0)) AS detail
  FROM holds h
  LEFT JOIN ga_holds g ON g.hold_id = h.hold_id AND g.event_id = h.event_id
       AND g.status = CASE h.status WHEN 'HELD' THEN 1 WHEN 'PAYMENT_PENDING' THEN 2 WHEN 'SOLD' THEN 3 END
       AND (h.status = 'SOLD' OR g.expires_at = h.expires_at)
 WHERE h.status IN ('PAYMENT_PENDING', 'SOLD') OR h.status = 'HELD' AND h.expires_at > booking_now()
 GROUP BY h.hold_id HAVING coalesce(sum(g.quantity), 0) <> h.places
UNION ALL
SELECT format('hold %s is %s and still owns %s places of tier %s', g.hold_id, h.status, g.quantity, g.tier_id)
  FROM ga_holds g LEFT JOIN holds h USING (hold_id)
 WHERE g.status IN (1, 2) AND coalesce(h.status, '') NOT IN ('HELD', 'PAYMENT_PENDING')
