-- Figures of the whole system (R32, R42): reports of processes, the lease of the one that adds up, what only the database knows.

-- Leave a process's part, and ask for the lease: whoever has it keeps it by asking again in time. Nothing here is logged.
CREATE OR REPLACE FUNCTION note_figures(p_process uuid, p_kind text, p_body bytea, p_may_watch boolean, p_lease interval)
RETURNS TABLE (now timestamptz, watches boolean) LANGUAGE plpgsql AS $$
DECLARE
    v_now     timestamptz := booking_now();
    v_watches boolean := false;
BEGIN
    INSERT INTO process_figures AS f (process_id, kind, heard_at, body) VALUES (p_process, p_kind, v_now, p_body)
        ON CONFLICT ON CONSTRAINT process_figures_pk DO UPDATE SET heard_at = excluded.heard_at, body = excluded.body;
    IF p_may_watch THEN
        INSERT INTO figures_watch AS w (watcher, lease_ends) VALUES (p_process, v_now + p_lease)
            ON CONFLICT ON CONSTRAINT figures_watch_pk DO UPDATE
           SET watcher = excluded.watcher, lease_ends = excluded.lease_ends
         WHERE w.watcher = excluded.watcher OR w.lease_ends <= v_now;
        v_watches := FOUND;
    END IF;
    RETURN QUERY SELECT v_now, v_watches;
END $$;

-- A process that ends takes its part with it; one that was killed is forgotten after a while.
CREATE OR REPLACE FUNCTION forget_process(p_process uuid) RETURNS void LANGUAGE sql AS $$
    DELETE FROM process_figures f WHERE f.process_id = p_process;
    DELETE FROM figures_watch w WHERE w.watcher = p_process;
$$;

CREATE OR REPLACE FUNCTION forget_silent_processes(p_silent interval) RETURNS void LANGUAGE sql AS $$
    DELETE FROM process_figures f WHERE f.heard_at < booking_now() - p_silent
$$;

-- The log says from when to when a process could not hear the authority. Once: the answer may have been lost on its way.
CREATE OR REPLACE FUNCTION note_authority_silence(p_process text, p_words text, p_since timestamptz, p_until timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_now    timestamptz := booking_now();
    v_detail jsonb := jsonb_build_object('from', jsonb_build_object('heard_at', p_since),
                                         'to', jsonb_build_object('heard_at', p_until));
BEGIN
    IF NOT EXISTS (SELECT FROM audit_log l
                    WHERE l.at >= p_until AND l.action LIKE 'authority-%' AND l.action = 'authority-silent'
                      AND l.subject = p_process AND l.detail @> v_detail) THEN
        PERFORM note_change('figures', 'authority-silent', p_process, p_words, v_detail, v_now);
    END IF;
END $$;

-- Keep a second, and only the last ones. Whoever kept it first was right: two watchers for a moment do no harm.
CREATE OR REPLACE FUNCTION keep_second(p_second bigint, p_measured_at timestamptz, p_body bytea, p_kept integer)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO figures_seconds (second, measured_at, body) VALUES (p_second, p_measured_at, p_body)
        ON CONFLICT ON CONSTRAINT figures_seconds_pk DO NOTHING;
    DELETE FROM figures_seconds s WHERE s.second < p_second - p_kept;
$$;

-- What the sale has done since a snapshot, by event, with the snapshot of this very scan: '' for "from now on". Read as the
-- sequencer reads (each row once, whenever it committed), but kept by nobody: a reader that is gone keeps no outbox.
-- A hold with seats and places is told twice and counted by its seats; one that comes back from a payment is told by its
-- order and not counted.
CREATE OR REPLACE FUNCTION sale_changes(p_snap text) RETURNS TABLE (
    snap text, event_id integer, held bigint, released bigint, confirmed bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_snap pg_snapshot := nullif(p_snap, '')::pg_snapshot;
BEGIN
    RETURN QUERY
    SELECT pg_current_snapshot()::text, c.event_id, c.held, c.released, c.confirmed
      FROM (SELECT 1) always
      LEFT JOIN (
        SELECT o.event_id,
               count(h.hold_id) FILTER (WHERE o.type = 'seats-held' OR o.payload ->> 'change' = 'held') AS held,
               count(h.hold_id) FILTER (WHERE h.status = 'RELEASED' AND
                                        (o.type = 'seats-released' OR o.payload ->> 'change' = 'released')) AS released,
               count(*) FILTER (WHERE o.type = 'order-confirmed') AS confirmed
          FROM outbox o
          LEFT JOIN holds h ON o.type IN ('seats-held', 'seats-released', 'places-changed')
                           AND h.hold_id = o.aggregate_id
                           AND (o.type = 'places-changed') = (cardinality(h.seats) = 0)
         WHERE o.xid >= pg_snapshot_xmin(v_snap) AND NOT pg_visible_in_snapshot(o.xid, v_snap)
         GROUP BY o.event_id) c ON true;
END $$;

-- Who shops: open holds by event. Holds whose time is over count no more, whoever sweeps; those being paid do.
CREATE OR REPLACE FUNCTION active_shoppers() RETURNS TABLE (event_id integer, shoppers bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT h.event_id, count(*) FROM holds h
     WHERE h.ended_at IS NULL AND (h.status = 'PAYMENT_PENDING' OR h.expires_at > v_now)
     GROUP BY h.event_id;
END $$;

-- Holds that are overdue: the sweeper's work, and the oldest.
CREATE OR REPLACE FUNCTION overdue_holds() RETURNS TABLE (backlog bigint, oldest_s double precision)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT count(*), extract(epoch FROM v_now - min(o.expires_at))::float8
      FROM (SELECT h.expires_at FROM holds h
             WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.expires_at <= v_now AND h.status = 'HELD'
             ORDER BY h.expires_at LIMIT 10000) o;
END $$;

-- Since when the oldest confirmed order waits for its tickets: rows that the issuer has not read.
CREATE OR REPLACE FUNCTION ticketing_lag() RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT coalesce(extract(epoch FROM booking_now() - min(u.created_at)), 0)::float8
      FROM consumer_offsets k
     CROSS JOIN LATERAL (
        SELECT r.created_at
          FROM (SELECT o.created_at, o.type FROM outbox o
                 WHERE o.xid >= pg_snapshot_xmin(k.snap) AND NOT pg_visible_in_snapshot(o.xid, k.snap)
                 ORDER BY o.xid LIMIT 10000) r
         WHERE r.type IN ('order-confirmed', 'order-settled')) u
     WHERE k.consumer = 'ticket-issuer'
$$;

-- Payments without an answer, by event, currency and age: UNKNOWN, or sent for five seconds. What is on its way for less is none.
CREATE OR REPLACE FUNCTION unknown_payments() RETURNS TABLE (
    event_id integer, currency text, from_s integer, up_to_s integer, count bigint, amount_minor bigint,
    oldest_s double precision
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT p.event_id, p.currency, b.from_s, b.up_to_s, count(*), sum(p.amount_minor)::bigint, max(p.age_s)
      FROM (SELECT o.event_id, o.currency, o.amount_minor, extract(epoch FROM v_now - o.created_at)::float8 AS age_s
              FROM payment_operations o
             WHERE o.status IN ('SENT', 'UNKNOWN')
               AND (o.status = 'UNKNOWN' OR o.updated_at <= v_now - interval '5 s')) p
      JOIN (VALUES (60, 0), (300, 60), (900, 300), (3600, 900), (86400, 3600), (NULL, 86400)) AS b (up_to_s, from_s)
        ON p.age_s >= b.from_s AND (b.up_to_s IS NULL OR p.age_s < b.up_to_s)
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3;
END $$;

-- Events with a room whose admission operators have set, and since when no controller has decided about it; if none ever has,
-- since it was set first. Of a room that is alive (it leaves its address every half a minute), or that is needed (the event is on
-- sale, not paused, and fans buy with its tokens alone), since when it has not done what was decided: one that a controller cannot
-- reach, that refuses, or that is gone is steered by nobody. A pause that was carried out needs nobody; one that was not does. The
-- events are those of the controller (list_admission_rooms).
CREATE OR REPLACE FUNCTION unsteered_admission() RETURNS TABLE (event_id integer, unsteered_s double precision)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT c.event_id, extract(epoch FROM v_now - coalesce(
               CASE WHEN s.room ? 'obeyed_at'
                         AND (r.announced_at > v_now - interval '90 s'
                              OR c.mode <> 'paused' AND e.status = 'ON_SALE' AND e.admission AND e.sale_opens_at <= v_now)
                    THEN (s.room ->> 'obeyed_at')::timestamptz ELSE s.decided_at END, k.at, c.changed_at))::float8
      FROM admission_settings c
      JOIN admission_rooms r ON r.event_id = c.event_id
      JOIN events e ON e.event_id = c.event_id
      LEFT JOIN admission_states s ON s.event_id = c.event_id
      LEFT JOIN admission_changes k ON k.event_id = c.event_id AND k.change_no = 1
     WHERE e.status <> 'CANCELLED' AND e.starts_at > v_now
       AND (c.mode <> 'paused' OR s.reason IS DISTINCT FROM 'paused' OR s.room ->> 'is_paused' = 'false');
END $$;

-- The server itself: sessions over the most it allows, commits and deadlocks since it counts, sessions that wait for a lock.
-- A session's own row stands for all: pg_stat_activity is read once.
CREATE OR REPLACE FUNCTION server_figures() RETURNS TABLE (
    sessions bigint, most integer, commits bigint, deadlocks bigint, lock_waits bigint
) LANGUAGE sql STABLE AS $$
    SELECT a.sessions, current_setting('max_connections')::integer, d.xact_commit, d.deadlocks, a.waits
      FROM (SELECT count(*) FILTER (WHERE s.backend_type = 'client backend') AS sessions,
                   count(*) FILTER (WHERE s.wait_event_type = 'Lock' AND s.datname = current_database()) AS waits
              FROM pg_stat_activity s) a
     CROSS JOIN pg_stat_database d WHERE d.datname = current_database()
$$;

-- Seats and places of events that no map is kept of. Reads every seat: asked for seldom, few events at a time.
CREATE OR REPLACE FUNCTION count_seats(p_events integer[]) RETURNS TABLE (
    event_id integer, free bigint, held bigint, sold bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT s.event_id, count(*) FILTER (WHERE seat_is_free(s.status, s.hold_expires_at, v_now)),
           count(*) FILTER (WHERE s.status IN (1, 2) AND NOT seat_is_free(s.status, s.hold_expires_at, v_now)),
           count(*) FILTER (WHERE s.status = 3)
      FROM seats s WHERE s.event_id = ANY (p_events) GROUP BY s.event_id;
END $$;

-- Events that a figure is told of: those that somebody shops in, then those that are not over, the nearest first.
CREATE OR REPLACE FUNCTION watched_events(p_busy integer[], p_most integer) RETURNS TABLE (
    event_id integer, name text, status text, places_free bigint, places_held bigint, places_sold bigint
) LANGUAGE sql STABLE AS $$
    SELECT e.event_id, e.name, e.status, coalesce(t.free, 0), coalesce(t.held, 0), coalesce(t.sold, 0)
      FROM (SELECT booking_now() AS now OFFSET 0) n
     CROSS JOIN LATERAL (SELECT v.* FROM events v
                          WHERE v.starts_at > n.now - interval '6 hours' OR v.event_id = ANY (p_busy)
                          ORDER BY v.event_id = ANY (p_busy) DESC, v.starts_at, v.event_id LIMIT p_most) e
      LEFT JOIN LATERAL (SELECT sum(greatest(g.capacity - g.held - g.sold, 0))::bigint AS free,
                                sum(g.held)::bigint AS held, sum(g.sold)::bigint AS sold
                           FROM ga_tiers g WHERE g.event_id = e.event_id) t ON true
     ORDER BY e.event_id
$$;
