-- One byte a seat in seat order, 1 when a hold made now may take it: free, its hold or house hold over, or in a dead sale.
WITH clock AS MATERIALIZED (SELECT booking_now() AS now)
SELECT coalesce(string_agg(CASE WHEN seat_is_free(s.status, s.hold_expires_at, c.now)
                                  OR CASE WHEN s.status = 2 AND s.hold_expires_at <= c.now
                                          THEN is_dead_sale(s.order_id, s.hold_expires_at, c.now) ELSE false END
                                THEN '\x01'::bytea ELSE '\x00'::bytea END, ''::bytea ORDER BY s.seat_no), ''::bytea) AS free
  FROM clock c LEFT JOIN seats s ON s.event_id = $1
