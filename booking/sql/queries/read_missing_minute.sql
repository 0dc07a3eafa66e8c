-- The oldest minute after $1 (NULL: of all), up to $2, that there are seconds of and that is not kept.
SELECT min(o.minute) AS minute
  FROM (SELECT DISTINCT date_trunc('minute', s.measured_at, 'UTC') AS minute FROM figures_seconds s) o
 WHERE o.minute <= $2::timestamptz AND ($1::timestamptz IS NULL OR o.minute > $1)
   AND NOT EXISTS (SELECT FROM figures_minutes m WHERE m.event_id = 0 AND m.minute = o.minute)
