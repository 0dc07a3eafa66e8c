-- Who may hold how much, once for seats and for places (R6–R8): the steps of hold_seats_batch and hold_places_batch that are
-- about the asker and not about what is asked for.
--
-- Requests are columns of equal length; p_codes says how each stands: '' goes on, everything else is decided. These
-- functions bring no settings of their own: they are planned under those of the batch that calls them, for one session and
-- any batch. OFFSET 0 keeps each look-up a look-up by key, whatever the planner believes of a table that was empty just now.

-- How each request that goes on stands once its account row is ours: replay and limits, as committed before that. Account rows
-- are locked in order, those that are missing (p_fresh) are made first. With p_wait there is one request: its lock is waited
-- for, its access code p_code is looked at, and the dead sales in its way (p_seats, p_tiers) are ended. Without, who finds
-- a lock in the way is 'slow'. p_wants is how many seats and places each asks for.
CREATE OR REPLACE FUNCTION who_may_hold(
    p_codes text[], p_fresh boolean[], p_events integer[], p_principals text[], p_channels text[], p_keys text[],
    p_digests bytea[], p_wants integer[], p_wait boolean, p_code text, p_seats integer[], p_tiers integer[],
    p_now timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_locked integer[];
    v_limit  integer := 0;
    v_codes  text[];
BEGIN
    IF true = ANY (p_fresh) THEN
        INSERT INTO account_limits (event_id, principal)
        SELECT a.event_id, a.principal
          FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
         WHERE p_codes[a.r] = '' AND p_fresh[a.r]
         ORDER BY 1, 2
            ON CONFLICT DO NOTHING;
    END IF;

    IF p_wait THEN
        SELECT array_agg(k.r) INTO v_locked FROM (
            SELECT a.r FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
              JOIN account_limits l ON l.event_id = a.event_id AND l.principal = a.principal
             WHERE p_codes[a.r] = ''
             ORDER BY l.event_id, l.principal FOR NO KEY UPDATE OF l) k;
        v_limit := limit_by_code(p_events[1], p_principals[1], p_code, p_now);
        PERFORM end_dead_sales(p_events[1], p_principals[1], p_seats, p_now, p_tiers);
    ELSE
        SELECT array_agg(k.r) INTO v_locked FROM (
            SELECT a.r FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
              JOIN account_limits l ON l.event_id = a.event_id AND l.principal = a.principal
             WHERE p_codes[a.r] = ''
             ORDER BY l.event_id, l.principal FOR NO KEY UPDATE OF l SKIP LOCKED) k;
    END IF;

    -- A new statement sees what was committed before the account rows were ours.
    SELECT array_agg(verdict.code ORDER BY verdict.r) INTO v_codes
      FROM (
        SELECT a.r,
               CASE WHEN p_codes[a.r] <> '' THEN p_codes[a.r]
                    WHEN NOT a.r = ANY (coalesce(v_locked, '{}')) THEN 'slow'
                    WHEN h.hold_id IS NOT NULL
                        THEN CASE WHEN h.digest = a.digest THEN 'replay' ELSE 'key-reused' END
                    WHEN a.channel = 'online' AND CASE WHEN e.admission
                         THEN NOT is_admitted(a.event_id, a.principal, p_now) ELSE false END THEN 'admission-refused'
                    WHEN v_limit IS NULL THEN 'access-code-refused'
                    WHEN open.dead AND NOT p_wait THEN 'slow'
                    WHEN a.channel = 'till' AND open.holds >= e.max_open_holds_till THEN 'open-hold-exists'
                    WHEN a.channel = 'online' AND open.holds > 0 THEN 'open-hold-exists'
                    WHEN a.channel = 'online' AND l.sold + open.places + p_wants[a.r]
                         > greatest(e.max_per_account, l.raised_to, v_limit) THEN 'account-limit'
                    ELSE '' END AS code
          FROM unnest(p_events, p_principals, p_channels, p_keys, p_digests) WITH ORDINALITY
               AS a (event_id, principal, channel, key, digest, r)
          LEFT JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = a.event_id OFFSET 0) e ON true
          LEFT JOIN LATERAL (SELECT l.sold, l.raised_to FROM account_limits l
                              WHERE l.event_id = a.event_id AND l.principal = a.principal OFFSET 0) l ON true
          LEFT JOIN LATERAL (SELECT h.hold_id, h.digest FROM holds h
                              WHERE h.event_id = a.event_id AND h.principal = a.principal AND h.idem_key = a.key
                             OFFSET 0) h ON true
          CROSS JOIN LATERAL (
            SELECT count(*) AS holds, coalesce(sum(cardinality(o.seats) + o.places), 0) AS places,
                   coalesce(bool_or(CASE WHEN o.expires_at <= p_now THEN is_dead_hold(o, p_now) ELSE false END),
                            false) AS dead
              FROM holds o
             WHERE p_codes[a.r] = '' AND o.event_id = a.event_id AND o.principal = a.principal
               AND o.ended_at IS NULL AND (o.status = 'PAYMENT_PENDING' OR o.expires_at > p_now)
          ) open
      ) verdict;
    RETURN v_codes;
END $$;

-- Write the holds of the requests that have won, at the prices and for the time that their events say now. Seats are
-- flattened as in hold_seats_batch; p_seats NULL: none of them has any. p_places NULL: likewise.
CREATE OR REPLACE FUNCTION write_holds(
    p_won integer[], p_holds uuid[], p_events integer[], p_principals text[], p_channels text[], p_keys text[],
    p_digests bytea[], p_devices uuid[], p_staff uuid[], p_firsts integer[], p_counts integer[], p_seats integer[],
    p_places integer[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO holds (hold_id, event_id, principal, channel, seats, places, price_version, expires_at, idem_key,
                       digest, device_id, staff_id, created_at)
    SELECT p_holds[r], e.event_id, p_principals[r], p_channels[r],
           coalesce(p_seats[p_firsts[r] : p_firsts[r] + p_counts[r] - 1], '{}'), coalesce(p_places[r], 0),
           e.price_version, p_now + make_interval(secs => e.hold_ttl_s), p_keys[r], p_digests[r], p_devices[r],
           p_staff[r], p_now
      FROM unnest(p_won) AS won (r)
      CROSS JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = p_events[won.r] OFFSET 0) e
     ORDER BY r;
END $$;
