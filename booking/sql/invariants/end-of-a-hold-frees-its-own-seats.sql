-- R5, R39: an expiry or a release changes its own hold alone, once, and frees no seat but that hold's.
SELECT format('the end of hold %s (%s) freed seats %s, it held %s', h.hold_id, h.status, x.seats, h.seats) AS detail
  FROM outbox x JOIN holds h ON h.hold_id = x.aggregate_id
 WHERE x.type = 'seats-released'
   AND (NOT x.seats <@ h.seats OR x.event_id <> h.event_id OR h.status NOT IN ('RELEASED', 'EXPIRED'))
UNION ALL
SELECT format('hold %s freed its seats %s times', x.aggregate_id, count(*))
  FROM outbox x JOIN holds h ON h.hold_id = x.aggregate_id
 WHERE x.type = 'seats-released'
 GROUP BY x.aggregate_id HAVING count(*) > 1
