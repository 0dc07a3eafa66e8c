-- General admission (R11): what a tier has, and the steps of holds and orders that own places of it.
--
-- Locks: counters (`ga_tiers`) by (event, tier, bucket), after every seat; then rows of `ga_holds`. Whoever changes
-- `held` or `sold` has the counter; checkout and return change rows of `ga_holds` alone, under their own locks.

-- A total in p_buckets parts that differ by one at most and sum to it: the remainder goes to the first buckets.
CREATE OR REPLACE FUNCTION allot_places(p_total integer, p_buckets integer) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(p_total / p_buckets + (b < p_total % p_buckets)::int ORDER BY b)
      FROM generate_series(0, p_buckets - 1) AS b
$$;

-- How a tier stands now; no row when there is none. `in_holds` are places of live holds, paying ones among them: what has
-- expired, and what belongs to a sale that nobody can finish (`dead`), is free already, swept or not (R5).
CREATE OR REPLACE FUNCTION tier_standing(
    p_event integer, p_tier integer, p_now timestamptz,
    OUT capacity integer, OUT sold integer, OUT in_holds integer, OUT available integer, OUT overbooked integer,
    OUT dead integer
) RETURNS SETOF record LANGUAGE sql STABLE AS $$
    SELECT c.capacity, c.sold, live.in_holds, greatest(0, c.capacity - c.sold - live.in_holds),
           greatest(0, c.sold + live.in_holds - c.capacity), d.dead
      FROM (SELECT sum(t.capacity)::int AS capacity, sum(t.sold)::int AS sold, sum(t.held)::int AS held
              FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier HAVING count(*) > 0 OFFSET 0) c
      CROSS JOIN LATERAL (SELECT coalesce(sum(g.quantity), 0)::int AS expired FROM ga_holds g
              WHERE g.event_id = p_event AND g.tier_id = p_tier AND g.status = 1 AND g.expires_at <= p_now OFFSET 0) x
      CROSS JOIN LATERAL (SELECT coalesce(sum(g.quantity), 0)::int AS dead
              FROM (SELECT * FROM ga_holds g
                     WHERE g.event_id = p_event AND g.tier_id = p_tier AND g.status = 2 AND g.expires_at <= p_now
                     OFFSET 0) g
              JOIN order_holds oh ON oh.hold_id = g.hold_id AND oh.live
             WHERE is_dead_sale(oh.order_id, g.expires_at, p_now) OFFSET 0) d
      CROSS JOIN LATERAL (SELECT greatest(0, c.held - x.expired - d.dead) AS in_holds) live
$$;

-- Lock the counters of what these holds still have, in order.
CREATE OR REPLACE FUNCTION lock_places(p_holds uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM ga_tiers t
     WHERE (t.event_id, t.tier_id, t.bucket) IN (
           SELECT g.event_id, g.tier_id, g.bucket FROM ga_holds g
            WHERE g.hold_id = ANY (p_holds) AND g.status IN (1, 2))
     ORDER BY t.event_id, t.tier_id, t.bucket FOR NO KEY UPDATE OF t;
END $$;

-- The holds that an order lives of.
CREATE OR REPLACE FUNCTION holds_of_order(p_order uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(oh.hold_id), '{}') FROM order_holds oh WHERE oh.order_id = p_order AND oh.live
$$;

-- The places of an order that it still has in its holds, being paid or held again.
CREATE OR REPLACE FUNCTION places_held_for(p_order uuid) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(g.quantity), 0)::int FROM order_holds oh JOIN ga_holds g USING (hold_id)
     WHERE oh.order_id = p_order AND oh.live AND g.status IN (1, 2)
$$;

-- Tell that the places of holds changed: p_change is held, paying, returned, sold, released or expired. Readers
-- count by hold: its places end at `until` by themselves, and being told of that again changes nothing.
CREATE OR REPLACE FUNCTION announce_places(
    p_event integer, p_change text, p_aggregate uuid, p_holds uuid[], p_places jsonb, p_until timestamptz,
    p_now timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO outbox (event_id, type, aggregate_id, until, payload, created_at)
    SELECT p_event, 'places-changed', p_aggregate, p_until,
           jsonb_build_object('change', p_change, 'holds', to_jsonb(p_holds), 'places', p_places), p_now
     WHERE p_places IS NOT NULL
$$;

-- HELD → being paid, until p_until: the counts stay. Caller: the holds, and their rows of ga_holds where time counts.
CREATE OR REPLACE FUNCTION ga_pay(p_holds uuid[], p_until timestamptz, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_event  integer;
    v_places jsonb;
BEGIN
    WITH paying AS (
        UPDATE ga_holds g SET status = 2, expires_at = coalesce(p_until, g.expires_at)
         WHERE g.hold_id = ANY (p_holds) AND g.status = 1
        RETURNING g.event_id, g.tier_id, g.bucket, g.quantity)
    SELECT min(p.event_id),
           jsonb_agg(jsonb_build_object('tier_id', p.tier_id, 'bucket', p.bucket, 'quantity', p.quantity))
      INTO v_event, v_places FROM paying p;
    PERFORM announce_places(v_event, 'paying', p_holds[1], p_holds, v_places, NULL, p_now);
END $$;

-- Being paid → HELD under the same deadline (R7). Caller: lock_sale.
CREATE OR REPLACE FUNCTION ga_return(p_holds uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_event  integer;
    v_until  timestamptz;
    v_places jsonb;
BEGIN
    WITH back AS (
        UPDATE ga_holds g SET status = 1 WHERE g.hold_id = ANY (p_holds) AND g.status = 2
        RETURNING g.event_id, g.tier_id, g.bucket, g.quantity, g.expires_at)
    SELECT min(b.event_id), min(b.expires_at),
           jsonb_agg(jsonb_build_object('tier_id', b.tier_id, 'bucket', b.bucket, 'quantity', b.quantity))
      INTO v_event, v_until, v_places FROM back b;
    PERFORM announce_places(v_event, 'returned', p_holds[1], p_holds, v_places, v_until, p_now);
END $$;

-- Being paid → SOLD: held becomes sold in each counter, and the places of the order are valid. Returns how many.
-- Caller: lock_sale; why_not_confirm said ''.
CREATE OR REPLACE FUNCTION ga_confirm(p_order orders, p_now timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_holds  uuid[] := holds_of_order(p_order.order_id);
    v_places jsonb;
    v_count  integer;
BEGIN
    IF NOT EXISTS (SELECT FROM order_places l WHERE l.order_id = p_order.order_id) THEN
        RETURN 0;
    END IF;
    PERFORM lock_places(v_holds);
    WITH sold AS (
        UPDATE ga_holds g SET status = 3 WHERE g.hold_id = ANY (v_holds) AND g.status = 2
        RETURNING g.event_id, g.tier_id, g.bucket, g.quantity),
    counted AS (
        UPDATE ga_tiers t SET held = t.held - s.quantity, sold = t.sold + s.quantity
          FROM (SELECT s.event_id, s.tier_id, s.bucket, sum(s.quantity)::int AS quantity FROM sold s GROUP BY 1, 2, 3) s
         WHERE t.event_id = s.event_id AND t.tier_id = s.tier_id AND t.bucket = s.bucket)
    SELECT jsonb_agg(jsonb_build_object('tier_id', s.tier_id, 'bucket', s.bucket, 'quantity', s.quantity)),
           coalesce(sum(s.quantity), 0)
      INTO v_places, v_count FROM sold s;
    UPDATE order_places l SET valid = true WHERE l.order_id = p_order.order_id;
    PERFORM announce_places(p_order.event_id, 'sold', p_order.order_id, v_holds, v_places, NULL, p_now);
    RETURN v_count;
END $$;

-- Give back what a hold still has, being paid or not. What a claim has reclaimed before is not given back twice.
-- Caller: the hold.
CREATE OR REPLACE FUNCTION ga_free(p_hold holds, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_places jsonb;
BEGIN
    PERFORM lock_places(ARRAY[p_hold.hold_id]);
    WITH freed AS (
        UPDATE ga_holds g SET status = 0 WHERE g.hold_id = p_hold.hold_id AND g.status IN (1, 2)
        RETURNING g.event_id, g.tier_id, g.bucket, g.quantity),
    counted AS (
        UPDATE ga_tiers t
           SET held = t.held - f.quantity,
               overbooked = least(t.overbooked, greatest(0, t.held - f.quantity + t.sold - t.capacity))
          FROM freed f
         WHERE t.event_id = f.event_id AND t.tier_id = f.tier_id AND t.bucket = f.bucket)
    SELECT jsonb_agg(jsonb_build_object('tier_id', f.tier_id, 'bucket', f.bucket, 'quantity', f.quantity))
      INTO v_places FROM freed f;
    PERFORM announce_places(p_hold.event_id, 'released', p_hold.hold_id, ARRAY[p_hold.hold_id], v_places, NULL, p_now);
END $$;

-- Lock what a hold has without waiting; false when somebody else holds one of its counters.
CREATE OR REPLACE FUNCTION try_lock_places_of_hold(p_hold holds) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_own    integer;
    v_locked integer;
BEGIN
    SELECT count(*) INTO v_own FROM ga_holds g WHERE g.hold_id = p_hold.hold_id AND g.status IN (1, 2);
    SELECT count(*) INTO v_locked
      FROM (SELECT FROM ga_tiers t
             WHERE (t.event_id, t.tier_id, t.bucket) IN (
                   SELECT g.event_id, g.tier_id, g.bucket FROM ga_holds g
                    WHERE g.hold_id = p_hold.hold_id AND g.status IN (1, 2))
             ORDER BY t.tier_id, t.bucket FOR NO KEY UPDATE OF t SKIP LOCKED) AS locked;
    RETURN v_locked >= v_own;
END $$;

-- Give a tier a capacity, divided anew over its buckets: each keeps what is held and sold, what is left is allotted
-- evenly; of a capacity below that, the buckets keep what it holds, in their order, and the rest is overbooked.
-- So room and overbooking are never found in one tier. Caller: every bucket of the tier is locked, in order.
CREATE OR REPLACE FUNCTION spread_capacity(p_event integer, p_tier integer, p_capacity integer) RETURNS void
LANGUAGE sql AS $$
    WITH used AS (
        SELECT t.bucket, t.held + t.sold AS used, (row_number() OVER w)::int AS place, count(*) OVER ()::int AS buckets,
               sum(t.held + t.sold) OVER ()::int AS total,
               (sum(t.held + t.sold) OVER w - (t.held + t.sold))::int AS before
          FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier
        WINDOW w AS (ORDER BY t.bucket)),
    shared AS (
        SELECT u.bucket, u.used,
               CASE WHEN p_capacity >= u.total
                    THEN u.used + (allot_places(p_capacity - u.total, u.buckets))[u.place]
                    ELSE least(u.used, greatest(0, p_capacity - u.before)) END AS capacity
          FROM used u)
    UPDATE ga_tiers t SET capacity = s.capacity, overbooked = greatest(0, s.used - s.capacity)
      FROM shared s
     WHERE t.event_id = p_event AND t.tier_id = p_tier AND t.bucket = s.bucket
$$;

-- The price category, and with it the price, of places is that of their tier.
CREATE OR REPLACE FUNCTION category_of_tier(p_event integer, p_tier integer) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT t.category_no FROM ga_tiers t WHERE t.event_id = p_event AND t.tier_id = p_tier ORDER BY t.bucket LIMIT 1
$$;

-- Whether the lines name exactly the places of a hold, tier by tier.
CREATE OR REPLACE FUNCTION are_places_of(p_hold uuid, p_tiers integer[], p_quantities integer[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT cardinality(p_tiers) = cardinality(p_quantities) AND NOT EXISTS (
        SELECT FROM (SELECT l.tier_id, sum(l.quantity) AS quantity FROM unnest(p_tiers, p_quantities)
                         AS l (tier_id, quantity) GROUP BY 1) named
          FULL JOIN (SELECT g.tier_id, sum(g.quantity) AS quantity FROM ga_holds g
                      WHERE g.hold_id = p_hold GROUP BY 1) held USING (tier_id)
         WHERE named.quantity IS DISTINCT FROM held.quantity)
$$;

-- What the places cost at the price version that the hold locked; NULL when a price is missing, 0 without places.
CREATE OR REPLACE FUNCTION total_of_places(
    p_hold holds, p_tiers integer[], p_price_types integer[], p_quantities integer[]
) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN cardinality(p_tiers) = 0 THEN 0
                WHEN count(p.amount_minor) = count(*) THEN sum(l.quantity * p.amount_minor)::bigint END
      FROM unnest(p_tiers, p_price_types, p_quantities) AS l (tier_id, price_type_id, quantity)
      LEFT JOIN prices p ON p.event_id = p_hold.event_id AND p.price_version = p_hold.price_version
           AND p.category_no = category_of_tier(p_hold.event_id, l.tier_id) AND p.price_type_id = l.price_type_id
$$;

-- The lines of an order as one row for each place, beside the bucket that it came from. Caller: are_places_of,
-- total_of_places.
CREATE OR REPLACE FUNCTION insert_order_places(
    p_hold holds, p_order uuid, p_tiers integer[], p_price_types integer[], p_quantities integer[]
) RETURNS void LANGUAGE sql AS $$
    WITH lines AS (
        SELECT l.tier_id, l.price_type_id, row_number() OVER (PARTITION BY l.tier_id ORDER BY l.price_type_id) AS place
          FROM unnest(p_tiers, p_price_types, p_quantities) AS l (tier_id, price_type_id, quantity)
         CROSS JOIN LATERAL generate_series(1, l.quantity)),
    places AS (
        SELECT g.tier_id, g.bucket, row_number() OVER (PARTITION BY g.tier_id ORDER BY g.bucket) AS place
          FROM ga_holds g CROSS JOIN LATERAL generate_series(1, g.quantity)
         WHERE g.hold_id = p_hold.hold_id)
    INSERT INTO order_places (order_id, place_no, event_id, tier_id, bucket, price_type_id, amount_minor)
    SELECT p_order, row_number() OVER (ORDER BY l.tier_id, l.place), p_hold.event_id, l.tier_id, p.bucket,
           l.price_type_id, a.amount_minor
      FROM lines l
      JOIN places p USING (tier_id, place)
      JOIN prices a ON a.event_id = p_hold.event_id AND a.price_version = p_hold.price_version
           AND a.category_no = category_of_tier(p_hold.event_id, l.tier_id) AND a.price_type_id = l.price_type_id
     ORDER BY 2
$$;
