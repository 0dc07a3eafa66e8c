-- The claim on counters (R11): what a batch of requests gets of a tier, and what a mixed hold gets. All of it happens in the
-- transaction of who claims; nothing depends on the sweeper.

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
