-- R4: booking_now() is the database's clock. Another body is for throw-away databases only.
SELECT format('booking_now() is: %s', btrim(f.prosrc)) AS detail
  FROM pg_proc f
 WHERE f.oid = 'booking_now()'::regprocedure AND btrim(f.prosrc) <> 'SELECT clock_timestamp()'
