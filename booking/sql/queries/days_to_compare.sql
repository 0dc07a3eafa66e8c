-- Days that the worker has yet to compare with provider $1 by itself, oldest first: $2, and those since its last comparison, when no
-- worker ran; $3 days before $2 at most.
SELECT d.day
  FROM (SELECT coalesce(max(r.day) + 1, $2::date) AS day FROM reconciliation_runs r
         WHERE r.provider = $1 AND r.started_by = 'authority' AND r.day < $2) since
 CROSS JOIN LATERAL (SELECT generate_series(greatest(since.day, $2::date - $3::integer), $2::date, interval '1 day')::date AS day) d
 WHERE NOT EXISTS (SELECT FROM reconciliation_runs r
                    WHERE r.provider = $1 AND r.day = d.day AND r.started_by = 'authority' AND r.state <> 'failed')
 ORDER BY d.day
