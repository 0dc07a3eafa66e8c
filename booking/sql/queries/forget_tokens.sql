-- Refresh tokens of sessions that ended: a session that may still be renewed keeps them all, used ones tell of theft.
WITH old AS MATERIALIZED (
    SELECT t.digest FROM staff_refresh_tokens t JOIN staff_sessions s USING (session_id)
     WHERE least(s.expires_at, coalesce(s.revoked_at, s.expires_at)) < (SELECT booking_now() - $1::interval) LIMIT $2
       FOR UPDATE OF t SKIP LOCKED
), gone AS (
    DELETE FROM staff_refresh_tokens t USING old o WHERE t.digest = o.digest RETURNING 1
)
SELECT count(*) FROM gone;
