-- Many holds of places in one transaction, each all or nothing (R3–R8, R11; BACKEND facts §5): the batch claim.
--
-- All requests of a batch for one tier are served by one change of its counter, in the order in which they came.
-- Who finds too little room gives back what expired holds have of the bucket, in this same transaction: nothing depends
-- on the sweeper. Of a tier with buckets a batch takes those that are free, and more while it needs them; a request
-- may be served from several. It is refused only when no bucket has room: what a bucket in other hands may have makes
-- a request 'slow', and alone it locks every bucket of its tiers.

-- Requests are columns of equal length; their wishes are flattened: request r wants p_quantities[i] places of tier
-- p_tiers[i] for the p_counts[r] indexes that begin at p_firsts[r], each tier once. No two requests share an account.
--
-- Code of a request: '' held (or replayed), an error code of the wire with the tiers that were lost, or 'slow': to be sent
-- here alone, with p_wait. p_codes as in hold_seats_batch, whose limits these are.
-- Order: replay, event, and a look at the counters (no lock: losers stay cheap) → account rows, replay and limits again (015) →
-- with p_wait: dead sales in the way (end_dead_sales) → counters by (event, tier, bucket) → holds, counts, outbox.
DROP FUNCTION IF EXISTS hold_places_batch(
    integer[], text[], text[], text[], bytea[], uuid[], uuid[], uuid[], integer[], integer[], integer[], integer[],
    boolean, text[]);
CREATE FUNCTION hold_places_batch(
    p_events integer[], p_principals text[], p_channels text[], p_keys text[], p_digests bytea[],
    p_holds uuid[], p_devices uuid[], p_staff uuid[],
    p_firsts integer[], p_counts integer[], p_tiers integer[], p_quantities integer[], p_wait boolean,
    p_codes text[] DEFAULT NULL
) RETURNS TABLE (
    request integer, code text, replayed boolean, lost integer[], server_time timestamptz,
    hold_id uuid, event_id integer, status text, expires_at timestamptz, grace_used boolean, order_id uuid,
    created_at timestamptz
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_now    timestamptz := booking_now();
    v_codes  text[];
    v_fresh  boolean[];
    v_lost   jsonb;
    v_dead   boolean;
    v_wants  integer[];
    v_claim  claimed_places;
BEGIN
    WITH wanted AS MATERIALIZED (
        SELECT w.event_id, w.tier_id, s.*
          FROM (SELECT DISTINCT a.event_id, p_tiers[i] AS tier_id
                  FROM unnest(p_events, p_firsts, p_counts) AS a (event_id, first, n)
                  CROSS JOIN LATERAL generate_series(a.first, a.first + a.n - 1) AS i) w
          LEFT JOIN LATERAL tier_standing(w.event_id, w.tier_id, v_now) s ON true)
    SELECT array_agg(verdict.code ORDER BY verdict.r), array_agg(verdict.fresh ORDER BY verdict.r),
           jsonb_object_agg(verdict.r, verdict.lost) FILTER (WHERE verdict.lost IS NOT NULL), bool_or(verdict.dead)
      INTO v_codes, v_fresh, v_lost, v_dead
      FROM (
        SELECT a.r, l.principal IS NULL AS fresh, look.dead, coalesce(look.unknown, look.short) AS lost,
               CASE WHEN h.hold_id IS NOT NULL THEN CASE WHEN h.digest = a.digest THEN 'replay' ELSE 'key-reused' END
                    WHEN e.event_id IS NULL THEN 'event-not-found'
                    WHEN e.status <> 'ON_SALE' OR e.sale_opens_at > v_now THEN 'event-not-on-sale'
                    WHEN look.unknown IS NOT NULL THEN 'tier-unknown'
                    WHEN look.short IS NOT NULL
                        THEN CASE WHEN look.sold_out THEN 'tier-sold-out' ELSE 'tier-in-holds' END
                    WHEN (look.dead OR code.is_new) AND NOT p_wait THEN 'slow'
                    ELSE '' END AS code
          FROM unnest(p_events, p_principals, p_keys, p_digests) WITH ORDINALITY
               AS a (event_id, principal, key, digest, r)
          LEFT JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = a.event_id OFFSET 0) e ON true
          LEFT JOIN LATERAL (SELECT h.hold_id, h.digest FROM holds h
                              WHERE h.event_id = a.event_id AND h.principal = a.principal AND h.idem_key = a.key
                             OFFSET 0) h ON true
          LEFT JOIN LATERAL (SELECT l.principal FROM account_limits l
                              WHERE l.event_id = a.event_id AND l.principal = a.principal OFFSET 0) l ON true
          LEFT JOIN LATERAL (SELECT true AS is_new
                              WHERE p_codes[a.r] <> '' AND NOT has_used_code(a.event_id, a.principal, p_codes[a.r])
                             OFFSET 0) code ON true
          CROSS JOIN LATERAL (
            SELECT array_agg(w.tier_id ORDER BY i) FILTER (WHERE w.capacity IS NULL) AS unknown,
                   array_agg(w.tier_id ORDER BY i) FILTER (WHERE w.available < p_quantities[i]) AS short,
                   bool_or(w.capacity - w.sold < p_quantities[i]) AS sold_out,
                   bool_or(w.dead > 0 AND w.available - w.dead < p_quantities[i]) AS dead
              FROM generate_series(p_firsts[a.r], p_firsts[a.r] + p_counts[a.r] - 1) AS i
              JOIN wanted w ON w.event_id = a.event_id AND w.tier_id = p_tiers[i]
          ) look
      ) verdict;

    IF '' = ANY (v_codes) THEN
        v_wants := ARRAY(SELECT (SELECT sum(p_quantities[i])::int FROM generate_series(a.first, a.first + a.n - 1) AS i)
                           FROM unnest(p_firsts, p_counts) WITH ORDINALITY AS a (first, n, r) ORDER BY a.r);
        v_codes := who_may_hold(v_codes, v_fresh, p_events, p_principals, p_channels, p_keys, p_digests, v_wants, p_wait,
                                p_codes[1], '{}', CASE WHEN v_dead THEN p_tiers ELSE '{}' END, v_now);
    END IF;

    IF '' = ANY (v_codes) THEN
        v_claim := claim_places(p_events, v_codes, p_firsts, p_counts, p_tiers, p_quantities, p_wait, v_now);
        v_codes := v_claim.codes;
        IF p_wait AND v_codes[1] = '' THEN
            PERFORM note_code_use(p_events[1], p_principals[1], p_codes[1], v_now);
        END IF;
        PERFORM write_holds(ARRAY(SELECT c.r::int FROM unnest(v_codes) WITH ORDINALITY AS c (code, r)
                                   WHERE c.code = '' ORDER BY c.r),
                            p_holds, p_events, p_principals, p_channels, p_keys, p_digests, p_devices, p_staff,
                            NULL, NULL, NULL, v_wants, v_now);
        PERFORM write_claim(p_events, p_holds, v_claim, v_now);
    END IF;

    RETURN QUERY
    SELECT a.r::integer,
           CASE v_codes[a.r] WHEN 'replay' THEN ''
                             WHEN 'short' THEN why_short(a.event_id, look.tiers, look.quantities, v_now)
                             ELSE v_codes[a.r] END,
           v_codes[a.r] = 'replay',
           CASE v_codes[a.r] WHEN 'short' THEN short_tiers(a.event_id, look.tiers, look.quantities, v_now)
                             ELSE ARRAY(SELECT jsonb_array_elements_text(v_lost -> a.r::text)::integer) END,
           booking_now(), h.hold_id, h.event_id, h.status, h.expires_at, h.grace_used, o.order_id, h.created_at
      FROM unnest(p_events, p_principals, p_keys) WITH ORDINALITY AS a (event_id, principal, key, r)
      CROSS JOIN LATERAL (SELECT p_tiers[p_firsts[a.r] : p_firsts[a.r] + p_counts[a.r] - 1] AS tiers,
                                 p_quantities[p_firsts[a.r] : p_firsts[a.r] + p_counts[a.r] - 1] AS quantities) look
      LEFT JOIN LATERAL (SELECT * FROM holds h
                          WHERE v_codes[a.r] IN ('', 'replay')
                            AND h.event_id = a.event_id AND h.principal = a.principal AND h.idem_key = a.key
                         OFFSET 0) h ON true
      LEFT JOIN LATERAL (SELECT * FROM order_holds o WHERE o.hold_id = h.hold_id AND o.live OFFSET 0) o ON true
     ORDER BY a.r;
END $$;
