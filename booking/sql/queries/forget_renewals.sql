-- Renewals that ended, or that nobody used in time.
WITH old AS MATERIALIZED (
    SELECT r.renewal_id FROM account_renewals r
     WHERE least(r.expires_at, r.ended_at) < (SELECT booking_now() - $1::interval) LIMIT $2
       FOR UPDATE OF r SKIP LOCKED
), gone AS (
    DELETE FROM account_renewals r USING old o WHERE r.renewal_id = o.renewal_id RETURNING 1
)
SELECT count(*) FROM gone;
