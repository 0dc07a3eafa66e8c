-- Many holds of places in one transaction, each all or nothing (R3–R8, R11; BACKEND facts §5): the batch claim.
--
-- All requests of a batch for one tier are served by one change of its counter, in the order in which they came.
-- Who finds too little room gives back what expired holds have of the bucket, in this same transaction: nothing depends
-- on the sweeper. Of a tier with buckets a batch takes those that are free, and more while it needs them; a request
-- may be served from several. It is refused only when no bucket has room: what a bucket in other hands may have makes
-- a request 'slow', and alone it locks every bucket of its tiers.

-- Give back what expired holds have of a bucket, until p_need places are free or none is left; returns how many.
-- Caller: the bucket. Rows that somebody has locked (a checkout that came in time, or too late) are skipped, with p_wait
-- they are waited for. The holds themselves are ended by whoever comes past them; they own nothing any more.
CREATE OR REPLACE FUNCTION reclaim_places(
    p_event integer, p_tier integer, p_bucket integer, p_need integer, p_wait boolean, p_now timestamptz
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_rows  integer;
    v_some  integer;
    v_total integer := 0;
BEGIN
    IF p_wait THEN
        PERFORM FROM ga_holds g
         WHERE g.event_id = p_event AND g.tier_id = p_tier AND g.bucket = p_bucket AND g.status = 1
           AND g.expires_at <= p_now
         ORDER BY g.hold_id FOR NO KEY UPDATE;
    END IF;
    LOOP
        WITH due AS MATERIALIZED (
            SELECT g.hold_id FROM ga_holds g
             WHERE g.event_id = p_event AND g.tier_id = p_tier AND g.bucket = p_bucket AND g.status = 1
               AND g.expires_at <= p_now
             ORDER BY g.expires_at LIMIT 200 FOR NO KEY UPDATE SKIP LOCKED),
        back AS (
            UPDATE ga_holds g SET status = 0 FROM due d
             WHERE g.hold_id = d.hold_id AND g.tier_id = p_tier AND g.bucket = p_bucket
            RETURNING g.hold_id, g.quantity),
        told AS (
            INSERT INTO outbox (event_id, type, aggregate_id, payload, created_at)
            SELECT p_event, 'places-changed', b.hold_id,
                   jsonb_build_object('change', 'expired', 'holds', jsonb_build_array(b.hold_id), 'places',
                                      jsonb_build_array(jsonb_build_object('tier_id', p_tier, 'bucket', p_bucket,
                                                                           'quantity', b.quantity))), p_now
              FROM back b)
        SELECT count(*), coalesce(sum(b.quantity), 0) INTO v_rows, v_some FROM back b;
        EXIT WHEN v_rows = 0;
        v_total := v_total + v_some;
        EXIT WHEN v_total >= p_need;
    END LOOP;
    IF v_total > 0 THEN
        UPDATE ga_tiers t
           SET held = t.held - v_total,
               overbooked = least(t.overbooked, greatest(0, t.held - v_total + t.sold - t.capacity))
         WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.bucket = p_bucket;
    END IF;
    RETURN v_total;
END $$;

-- Lock buckets of a tier until p_wanted places are free in them, and say which, and what room each has. `complete`: no
-- other room can be found, neither in a bucket in other hands nor in an expired hold that somebody has locked.
-- With p_wait every bucket is locked, in order. Without, those that nobody has, beginning with this connection's own;
-- when all are taken, the first one is waited for, holding none of this tier: so nobody waits for a lower one.
CREATE OR REPLACE FUNCTION open_tier(
    p_event integer, p_tier integer, p_wanted integer, p_wait boolean, p_now timestamptz,
    OUT buckets integer[], OUT rooms integer[], OUT complete boolean
) LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
    v_first integer;
    v_tier  ga_tiers;
    v_room  integer;
    v_sum   integer := 0;
BEGIN
    buckets := '{}';
    rooms := '{}';
    IF p_wait THEN
        PERFORM FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier ORDER BY t.bucket FOR NO KEY UPDATE;
        IF EXISTS (SELECT FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.overbooked > 0) THEN
            PERFORM reclaim_places(p_event, p_tier, t.bucket, 2147483647, true, p_now)
               FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier ORDER BY t.bucket;
            PERFORM spread_capacity(p_event, p_tier, sum(t.capacity)::int)
               FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier;
        END IF;
    END IF;
    SELECT count(*) INTO v_count FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier;
    v_first := pg_backend_pid() % v_count;
    LOOP
        SELECT * INTO v_tier FROM ga_tiers t
         WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.bucket <> ALL (buckets)
         ORDER BY (t.bucket - v_first + v_count) % v_count LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            EXIT WHEN cardinality(buckets) > 0;
            SELECT * INTO v_tier FROM ga_tiers t
             WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.bucket = v_first FOR NO KEY UPDATE;
        END IF;
        v_room := greatest(0, v_tier.capacity - v_tier.held - v_tier.sold);
        IF v_sum + v_room < p_wanted THEN
            v_room := greatest(0, v_tier.capacity - v_tier.held - v_tier.sold + reclaim_places(
                p_event, p_tier, v_tier.bucket, p_wanted - v_sum - v_room, p_wait, p_now));
        END IF;
        buckets := buckets || v_tier.bucket;
        rooms := rooms || v_room;
        v_sum := v_sum + v_room;
        EXIT WHEN v_sum >= p_wanted OR cardinality(buckets) = v_count;
    END LOOP;
    -- Overbooking means that no place of the tier may go, whatever room one bucket shows; nobody can bring it about while
    -- we have a bucket. Alone it was levelled above.
    IF NOT p_wait AND v_count > 1
       AND EXISTS (SELECT FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.overbooked > 0) THEN
        rooms := array_fill(0, ARRAY[cardinality(rooms)]);
        complete := false;
    ELSE
        complete := p_wait OR v_sum >= p_wanted OR cardinality(buckets) = v_count AND NOT EXISTS (
            SELECT FROM ga_holds g WHERE g.event_id = p_event AND g.tier_id = p_tier AND g.status = 1
               AND g.expires_at <= p_now);
    END IF;
END $$;

-- Requests are columns of equal length; their wishes are flattened: request r wants p_quantities[i] places of tier
-- p_tiers[i] for the p_counts[r] indexes that begin at p_firsts[r], each tier once. No two requests share an account.
--
-- Code of a request: '' held (or replayed), an error code of the wire with the tiers that were lost, or 'slow': to be sent
-- here alone, with p_wait. p_codes as in hold_seats_batch, whose limits these are.
-- Order: replay, event, and a look at the counters (no lock: losers stay cheap) → account rows → replay and limits again →
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
    v_locked integer[];
    v_limit  integer := 0;
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
        IF true = ANY (v_fresh) THEN
            INSERT INTO account_limits (event_id, principal)
            SELECT a.event_id, a.principal
              FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
             WHERE v_codes[a.r] = '' AND v_fresh[a.r]
             ORDER BY 1, 2
                ON CONFLICT DO NOTHING;
        END IF;
        IF p_wait THEN
            SELECT array_agg(k.r) INTO v_locked FROM (
                SELECT a.r FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
                  JOIN account_limits l ON l.event_id = a.event_id AND l.principal = a.principal
                 WHERE v_codes[a.r] = ''
                 ORDER BY l.event_id, l.principal FOR NO KEY UPDATE OF l) k;
            v_limit := limit_by_code(p_events[1], p_principals[1], p_codes[1], v_now);
            PERFORM end_dead_sales(p_events[1], p_principals[1], '{}', v_now,
                                   CASE WHEN v_dead THEN p_tiers ELSE '{}' END);
        ELSE
            SELECT array_agg(k.r) INTO v_locked FROM (
                SELECT a.r FROM unnest(p_events, p_principals) WITH ORDINALITY AS a (event_id, principal, r)
                  JOIN account_limits l ON l.event_id = a.event_id AND l.principal = a.principal
                 WHERE v_codes[a.r] = ''
                 ORDER BY l.event_id, l.principal FOR NO KEY UPDATE OF l SKIP LOCKED) k;
        END IF;

        -- A new statement sees what was committed before the account rows were ours.
        SELECT array_agg(verdict.code ORDER BY verdict.r) INTO v_codes
          FROM (
            SELECT a.r,
                   CASE WHEN v_codes[a.r] <> '' THEN v_codes[a.r]
                        WHEN NOT a.r = ANY (coalesce(v_locked, '{}')) THEN 'slow'
                        WHEN h.hold_id IS NOT NULL
                            THEN CASE WHEN h.digest = a.digest THEN 'replay' ELSE 'key-reused' END
                        WHEN v_limit IS NULL THEN 'access-code-refused'
                        WHEN open.dead AND NOT p_wait THEN 'slow'
                        WHEN a.channel = 'till' AND open.holds >= e.max_open_holds_till THEN 'open-hold-exists'
                        WHEN a.channel = 'online' AND open.holds > 0 THEN 'open-hold-exists'
                        WHEN a.channel = 'online' AND l.sold + open.places + want.places
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
              CROSS JOIN LATERAL (SELECT sum(p_quantities[i]) AS places
                                    FROM generate_series(p_firsts[a.r], p_firsts[a.r] + p_counts[a.r] - 1) AS i) want
              CROSS JOIN LATERAL (
                SELECT count(*) AS holds, coalesce(sum(cardinality(o.seats) + o.places), 0) AS places,
                       coalesce(bool_or(CASE WHEN o.expires_at <= v_now THEN is_dead_hold(o, v_now) ELSE false END),
                                false) AS dead
                  FROM holds o
                 WHERE v_codes[a.r] = '' AND o.event_id = a.event_id AND o.principal = a.principal
                   AND o.ended_at IS NULL AND (o.status = 'PAYMENT_PENDING' OR o.expires_at > v_now)
              ) open
          ) verdict;
    END IF;

    IF '' = ANY (v_codes) THEN
        v_claim := claim_places(p_events, v_codes, p_firsts, p_counts, p_tiers, p_quantities, p_wait, v_now);
        v_codes := v_claim.codes;
        IF p_wait AND v_codes[1] = '' THEN
            PERFORM note_code_use(p_events[1], p_principals[1], p_codes[1], v_now);
        END IF;
        INSERT INTO holds (hold_id, event_id, principal, channel, seats, places, price_version, expires_at, idem_key,
                           digest, device_id, staff_id, created_at)
        SELECT p_holds[c.r], e.event_id, p_principals[c.r], p_channels[c.r], '{}', want.places, e.price_version,
               v_now + make_interval(secs => e.hold_ttl_s), p_keys[c.r], p_digests[c.r], p_devices[c.r], p_staff[c.r],
               v_now
          FROM unnest(v_codes) WITH ORDINALITY AS c (code, r)
          CROSS JOIN LATERAL (SELECT * FROM events e WHERE e.event_id = p_events[c.r] OFFSET 0) e
          CROSS JOIN LATERAL (SELECT sum(p_quantities[i]) AS places
                                FROM generate_series(p_firsts[c.r], p_firsts[c.r] + p_counts[c.r] - 1) AS i) want
         WHERE c.code = ''
         ORDER BY c.r;
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

-- Divide what the counters have among the requests whose code is '', in their order, each all or nothing. Answers with
-- the codes ('short' or 'slow' for those that got nothing) and with what each got of which bucket. Locks the counters, by
-- (event, tier), and changes no count yet: write_claim does, in the same transaction. Caller: the accounts.
CREATE OR REPLACE FUNCTION claim_places(
    p_events integer[], p_codes text[], p_firsts integer[], p_counts integer[], p_tiers integer[],
    p_quantities integer[], p_wait boolean, p_now timestamptz
) RETURNS claimed_places LANGUAGE plpgsql AS $$
DECLARE
    v_want    record;
    v_opened  record;
    v_event   integer[] := '{}';
    v_tier    integer[] := '{}';
    v_bucket  integer[] := '{}';
    v_room    integer[] := '{}';
    v_final   boolean[] := '{}';
    v_left    integer;
    v_part    integer;
    v_code    text;
    v_claim   claimed_places;
BEGIN
    v_claim.codes := p_codes;
    FOR v_want IN
        SELECT p_events[c.r] AS event_id, p_tiers[i] AS tier_id, sum(p_quantities[i])::int AS places
          FROM unnest(p_codes) WITH ORDINALITY AS c (code, r)
          CROSS JOIN LATERAL generate_series(p_firsts[c.r], p_firsts[c.r] + p_counts[c.r] - 1) AS i
         WHERE c.code = '' GROUP BY 1, 2 ORDER BY 1, 2
    LOOP
        SELECT * INTO v_opened FROM open_tier(v_want.event_id, v_want.tier_id, v_want.places, p_wait, p_now);
        v_part := cardinality(v_opened.buckets);
        v_event := v_event || array_fill(v_want.event_id, ARRAY[v_part]);
        v_tier := v_tier || array_fill(v_want.tier_id, ARRAY[v_part]);
        v_bucket := v_bucket || v_opened.buckets;
        v_room := v_room || v_opened.rooms;
        v_final := v_final || array_fill(v_opened.complete, ARRAY[v_part]);
    END LOOP;

    FOR r IN 1 .. cardinality(p_codes) LOOP
        CONTINUE WHEN p_codes[r] <> '';
        v_code := '';
        FOR i IN p_firsts[r] .. p_firsts[r] + p_counts[r] - 1 LOOP
            v_left := p_quantities[i];
            FOR k IN 1 .. cardinality(v_tier) LOOP
                IF v_tier[k] = p_tiers[i] AND v_event[k] = p_events[r] THEN
                    v_left := v_left - v_room[k];
                    EXIT WHEN v_left <= 0;
                    IF NOT v_final[k] THEN
                        v_code := 'slow';
                    END IF;
                END IF;
            END LOOP;
            IF v_left > 0 THEN
                v_code := CASE v_code WHEN 'slow' THEN 'slow' ELSE 'short' END;
                EXIT;
            END IF;
            v_code := '';
        END LOOP;
        v_claim.codes[r] := v_code;
        CONTINUE WHEN v_code <> '';
        FOR i IN p_firsts[r] .. p_firsts[r] + p_counts[r] - 1 LOOP
            v_left := p_quantities[i];
            FOR k IN 1 .. cardinality(v_tier) LOOP
                EXIT WHEN v_left = 0;
                IF v_tier[k] = p_tiers[i] AND v_event[k] = p_events[r] AND v_room[k] > 0 THEN
                    v_part := least(v_left, v_room[k]);
                    v_room[k] := v_room[k] - v_part;
                    v_left := v_left - v_part;
                    v_claim.requests := v_claim.requests || r;
                    v_claim.tiers := v_claim.tiers || v_tier[k];
                    v_claim.buckets := v_claim.buckets || v_bucket[k];
                    v_claim.quantities := v_claim.quantities || v_part;
                END IF;
            END LOOP;
        END LOOP;
    END LOOP;
    RETURN v_claim;
END $$;

-- Write what was claimed: counts, the holds' places, one outbox row for each hold. Caller: claim_places, and the rows of
-- the holds are there.
CREATE OR REPLACE FUNCTION write_claim(p_events integer[], p_holds uuid[], p_claim claimed_places, p_now timestamptz)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    IF p_claim.requests IS NULL THEN
        RETURN;
    END IF;
    UPDATE ga_tiers t SET held = t.held + c.quantity
      FROM (SELECT p_events[c.r] AS event_id, c.tier_id, c.bucket, sum(c.quantity)::int AS quantity
              FROM unnest(p_claim.requests, p_claim.tiers, p_claim.buckets, p_claim.quantities)
                   AS c (r, tier_id, bucket, quantity)
             GROUP BY 1, 2, 3 OFFSET 0) c
     WHERE t.event_id = c.event_id AND t.tier_id = c.tier_id AND t.bucket = c.bucket;
    WITH claimed AS (
        INSERT INTO ga_holds (hold_id, part, event_id, tier_id, bucket, quantity, expires_at)
        SELECT h.hold_id, row_number() OVER (PARTITION BY c.r ORDER BY c.place), h.event_id, c.tier_id, c.bucket,
               c.quantity, h.expires_at
          FROM unnest(p_claim.requests, p_claim.tiers, p_claim.buckets, p_claim.quantities) WITH ORDINALITY
               AS c (r, tier_id, bucket, quantity, place)
          CROSS JOIN LATERAL (SELECT * FROM holds h WHERE h.hold_id = p_holds[c.r] OFFSET 0) h
        RETURNING hold_id, event_id, tier_id, bucket, quantity, expires_at)
    INSERT INTO outbox (event_id, type, aggregate_id, until, payload, created_at)
    SELECT c.event_id, 'places-changed', c.hold_id, c.expires_at,
           jsonb_build_object('change', 'held', 'holds', jsonb_build_array(c.hold_id), 'places',
               jsonb_agg(jsonb_build_object('tier_id', c.tier_id, 'bucket', c.bucket, 'quantity', c.quantity))), p_now
      FROM claimed c
     GROUP BY c.event_id, c.hold_id, c.expires_at
     ORDER BY c.hold_id;
END $$;

-- Of these tiers, those that have too few places left now.
CREATE OR REPLACE FUNCTION short_tiers(p_event integer, p_tiers integer[], p_quantities integer[], p_now timestamptz)
RETURNS integer[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(w.tier_id ORDER BY w.place), '{}')
      FROM unnest(p_tiers, p_quantities) WITH ORDINALITY AS w (tier_id, quantity, place)
      CROSS JOIN LATERAL tier_standing(p_event, w.tier_id, p_now) s
     WHERE s.available < w.quantity
$$;

-- Why places are refused: what is wanted is in holds and may come back (W7), or it is sold. 'slow' when there is room again.
CREATE OR REPLACE FUNCTION why_short(p_event integer, p_tiers integer[], p_quantities integer[], p_now timestamptz)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN bool_or(s.capacity - s.sold < w.quantity) THEN 'tier-sold-out'
                WHEN bool_or(s.available < w.quantity) THEN 'tier-in-holds'
                ELSE 'slow' END
      FROM unnest(p_tiers, p_quantities) AS w (tier_id, quantity)
      CROSS JOIN LATERAL tier_standing(p_event, w.tier_id, p_now) s
$$;
