-- Seats that ended by their time alone: HELD and expired, or kept by the house until now, as every predicate reads it (R5),
-- whoever sweeps or does not. PAYING seats do not end by time.
-- $1: the time up to which such ends were told. $2, $3: event and seat of changes that were seen only after their end.
-- One row without a seat when there is none; a clock that was set back tells nothing twice.
WITH clock AS MATERIALIZED (
    SELECT booking_now() AS now
), ended AS (
    SELECT h.event_id, w.seat_no
      FROM clock c
      JOIN holds h ON h.expires_at > least($1, c.now) AND h.expires_at <= c.now
      CROSS JOIN LATERAL unnest(h.seats) AS w (seat_no)
     WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.status = 'HELD'
     UNION
    SELECT k.event_id, k.seat_no
      FROM clock c
      JOIN house_holds h ON h.release_at > least($1, c.now) AND h.release_at <= c.now
      JOIN house_hold_seats k USING (house_hold_id)
     WHERE h.released_at IS NULL AND h.release_at IS NOT NULL
     UNION
    SELECT l.event_id, l.seat_no FROM unnest($2::int[], $3::int[]) AS l (event_id, seat_no)
)
SELECT c.now, free.event_id, free.seat_no, free.version
  FROM clock c
  LEFT JOIN (SELECT s.event_id, s.seat_no, s.version, s.status, s.hold_expires_at
               FROM ended e JOIN seats s USING (event_id, seat_no)
              WHERE s.status <> 0) free ON seat_is_free(free.status, free.hold_expires_at, c.now)
 ORDER BY free.event_id, free.seat_no;
