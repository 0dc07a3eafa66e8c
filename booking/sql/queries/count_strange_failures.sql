-- Failures of a name lately over all devices that it never signed in at: device ids are the caller's own invention.
SELECT coalesce(sum(a.failures), 0)::bigint AS failures
  FROM login_attempts a
 WHERE a.name = $1 AND a.last_failed_at > $2::timestamptz - interval '15 min'
   AND NOT EXISTS (SELECT FROM staff_sessions x JOIN staff s USING (staff_id)
                    WHERE s.name = a.name AND x.device_id = a.device_id);
