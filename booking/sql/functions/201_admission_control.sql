-- The controller of admission (R20): settings with their version, one leader, what it decided.

-- Set how an event lets people in, from the version that was seen (0: nothing was set yet); audited and in the log. What the
-- room is told follows within a second: `p_told` is the rate that the new settings allow at most, at once. Rates may be set
-- before there is a room; a pause without one would stop nobody and is refused.
CREATE OR REPLACE FUNCTION change_admission_settings(
    p_principal text, p_staff uuid, p_name text, p_event integer, p_expected integer, p_settings jsonb, p_most float8,
    p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_subject CONSTANT uuid := event_subject(p_event);
    v_old     admission_settings;
    v_new     admission_settings;
    v_answer  sale_answer;
    v_now     timestamptz;
    v_told    float8;
BEGIN
    PERFORM FROM events e WHERE e.event_id = p_event FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN refused('event-not-found');
    END IF;
    v_answer := seen_key(p_principal, 'admission-settings', p_key, p_digest, v_subject);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_old FROM admission_settings s WHERE s.event_id = p_event FOR NO KEY UPDATE;
    IF coalesce(v_old.version, 0) <> p_expected THEN
        RETURN refused('settings-changed', coalesce(v_old.version, 0)::text);
    END IF;
    v_now := booking_now();
    v_new := jsonb_populate_record(v_old, p_settings);
    IF v_new.mode = 'paused' AND v_old.mode IS DISTINCT FROM 'paused'
       AND NOT EXISTS (SELECT FROM admission_rooms r WHERE r.event_id = p_event) THEN
        RETURN refused('event-has-no-room');
    END IF;
    INSERT INTO admission_settings AS s VALUES (
        p_event, p_expected + 1, v_new.mode, v_new.mode_before_pause, v_new.cap_per_minute, v_new.manual_per_minute,
        v_new.least_per_minute, v_new.total_active_users, v_new.targets, v_now,
        coalesce(nullif(p_name, ''), p_principal))
        ON CONFLICT ON CONSTRAINT admission_settings_pk DO UPDATE
       SET version = excluded.version, mode = excluded.mode, mode_before_pause = excluded.mode_before_pause,
           cap_per_minute = excluded.cap_per_minute, manual_per_minute = excluded.manual_per_minute,
           least_per_minute = excluded.least_per_minute, total_active_users = excluded.total_active_users,
           targets = excluded.targets, changed_at = excluded.changed_at, changed_by = excluded.changed_by;
    SELECT a.per_minute INTO v_told FROM admission_states a WHERE a.event_id = p_event;
    PERFORM note_admission_change(
        p_event, v_now, coalesce('staff:' || p_staff, p_principal), p_name, v_new.mode, coalesce(v_told, 0),
        least(coalesce(v_told, 0), p_most), 'set-by-ops', p_reason, jsonb_build_object(
            'version', p_expected + 1, 'cap_per_minute', v_new.cap_per_minute,
            'manual_per_minute', v_new.manual_per_minute, 'least_per_minute', v_new.least_per_minute,
            'total_active_users', v_new.total_active_users));
    PERFORM note_change(p_principal, 'admission-settings-changed', 'event:' || p_event, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'version', p_expected + 1, 'from', to_jsonb(v_old), 'to', p_settings), v_now);
    PERFORM spend_key(p_principal, 'admission-settings', p_key, p_digest, v_subject, v_subject, v_now);
    RETURN done(v_subject);
END $$;

-- One line of the log; numbered within its event: whoever writes locks the event's settings.
DROP FUNCTION IF EXISTS note_admission_change(
    integer, timestamptz, text, text, text, float8, float8, text, text, jsonb);
CREATE OR REPLACE FUNCTION note_admission_change(
    p_event integer, p_at timestamptz, p_principal text, p_name text, p_mode text, p_from float8, p_to float8,
    p_reason text, p_words text, p_numbers jsonb, p_cause jsonb DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM admission_settings s WHERE s.event_id = p_event FOR NO KEY UPDATE;
    INSERT INTO admission_changes
    SELECT p_event, coalesce(max(c.change_no), 0) + 1, p_at, p_principal, p_name, p_mode, p_from, p_to, p_reason,
           p_words, p_numbers, p_cause
      FROM admission_changes c WHERE c.event_id = p_event;
END $$;

-- Lead for `p_seconds` more, or not: another controller has the lease. The time is the authority's.
CREATE OR REPLACE FUNCTION lead_admission(p_holder uuid, p_seconds float8) RETURNS TABLE (now timestamptz, leads boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    INSERT INTO admission_leader AS l (holder, held_until) VALUES (p_holder, v_now + make_interval(secs => p_seconds))
        ON CONFLICT ON CONSTRAINT admission_leader_pk DO UPDATE
       SET holder = excluded.holder, held_until = excluded.held_until
     WHERE l.holder = p_holder OR l.held_until <= v_now;
    RETURN QUERY SELECT v_now, EXISTS (SELECT FROM admission_leader l WHERE l.holder = p_holder);
END $$;

-- Give the lease back, so that another one need not wait for its end.
CREATE OR REPLACE FUNCTION resign_admission(p_holder uuid) RETURNS void LANGUAGE sql AS $$
    DELETE FROM admission_leader l WHERE l.holder = p_holder
$$;

-- Keep what the leader decided of an event; false, and nothing, when it leads no longer. `p_changes`: lines of the log.
CREATE OR REPLACE FUNCTION keep_admission_state(p_holder uuid, p_event integer, p_state jsonb, p_changes jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_new    admission_states := jsonb_populate_record(NULL::admission_states, p_state);
    v_change record;
BEGIN
    PERFORM FROM admission_leader l WHERE l.holder = p_holder FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO admission_states AS s VALUES (
        p_event, v_new.per_minute, v_new.law, v_new.reason, v_new.words, v_new.decided_at, v_new.measured_at,
        v_new.figures, v_new.room, nullif(v_new.cause, 'null'))
        ON CONFLICT ON CONSTRAINT admission_states_pk DO UPDATE
       SET per_minute = excluded.per_minute, law = excluded.law, reason = excluded.reason, words = excluded.words,
           decided_at = excluded.decided_at, measured_at = excluded.measured_at, figures = excluded.figures,
           room = excluded.room, cause = excluded.cause;
    FOR v_change IN
        SELECT c.* FROM jsonb_to_recordset(p_changes) AS c (
            at timestamptz, principal text, mode text, from_per_minute float8, to_per_minute float8, reason text, words text,
            numbers jsonb, cause jsonb)
    LOOP
        CONTINUE WHEN EXISTS (SELECT FROM admission_changes k
                               WHERE k.at = v_change.at AND k.event_id = p_event AND k.principal = v_change.principal
                                 AND k.reason = v_change.reason);  -- the answer was lost, and it is asked for again
        PERFORM note_admission_change(
            p_event, v_change.at, v_change.principal, '', v_change.mode, v_change.from_per_minute, v_change.to_per_minute,
            v_change.reason, v_change.words, v_change.numbers,
            nullif(v_change.cause, 'null'));
    END LOOP;
    RETURN true;
END $$;

-- A room makes itself known for its events.
CREATE OR REPLACE FUNCTION announce_rooms(p_events integer[], p_url text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO admission_rooms AS r (event_id, url, announced_at)
    SELECT e.event_id, p_url, booking_now() FROM events e WHERE e.event_id = ANY (p_events)
        ON CONFLICT ON CONSTRAINT admission_rooms_pk DO UPDATE
       SET url = excluded.url, announced_at = excluded.announced_at
$$;

-- Entries of a room's own log. Those that are here already were posted twice: their answer was lost.
CREATE OR REPLACE FUNCTION note_room_changes(p_entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    INSERT INTO room_changes (entry_id, event_id, at, heard_at, principal, what, was, now, reason)
    SELECT e.entry_id, e.event_id, e.at, v_now, e.who, e.what, e.was, e.now, e.reason
      FROM jsonb_to_recordset(p_entries) AS e (
           entry_id uuid, event_id integer, at timestamptz, who text, what text, was jsonb, now jsonb, reason text)
        ON CONFLICT ON CONSTRAINT room_changes_pk DO NOTHING;
END $$;

-- Figures of one event's sale as the controller looks at them, without those that only the API's processes know. Payments
-- are those begun in the last minute: their ids rise with time. An error has no outcome, or took five seconds and has none yet,
-- or is one of processing; what a card's own bank declines is none.
CREATE OR REPLACE FUNCTION admission_figures(p_event integer) RETURNS TABLE (
    now timestamptz, lock_waits integer, ticketing_lag_s float8, payments integer, payment_errors integer,
    payments_unknown integer, departures integer, bought integer
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_since CONSTANT uuid := lpad(to_hex((extract(epoch FROM v_now - interval '60 s') * 1000)::bigint), 12, '0')
                             || repeat('0', 20);
BEGIN
    RETURN QUERY
    SELECT v_now,
           (SELECT count(*)::integer FROM pg_stat_activity a
             WHERE a.datname = current_database() AND a.wait_event_type = 'Lock'),
           ticketing_lag(), p.payments, p.errors, u.unknown, d.departures, d.bought
      FROM (SELECT count(*)::integer AS payments,
                   count(*) FILTER (WHERE o.status IN ('UNKNOWN', 'SENT') OR o.decline_code = 'processing-error')::integer
                       AS errors
              FROM payment_operations o
             WHERE o.operation_id >= v_since AND o.event_id = p_event AND o.kind = 'authorize'
               AND (o.status IN ('SUCCEEDED', 'DECLINED', 'UNKNOWN')
                    OR o.status = 'SENT' AND o.updated_at < v_now - interval '5 s')) p
     CROSS JOIN (SELECT count(*)::integer AS unknown
                   FROM (SELECT FROM payment_operations o
                          WHERE o.next_attempt_at IS NOT NULL AND o.event_id = p_event AND o.status = 'UNKNOWN'
                          LIMIT 1000) o) u
     CROSS JOIN (SELECT count(*)::integer AS departures, count(s.spent_at)::integer AS bought
                   FROM (SELECT a.spent_at FROM admission_sessions a
                          WHERE a.event_id = p_event AND a.spent_at > v_now - interval '60 s'
                         UNION ALL
                         SELECT a.spent_at FROM admission_sessions a
                          WHERE a.event_id = p_event AND a.spent_at IS NULL
                            AND a.slot_ends_at > v_now - interval '60 s' AND a.slot_ends_at <= v_now) s) d;
END $$;

-- How many places of an event nobody holds or has.
CREATE OR REPLACE FUNCTION free_places(p_event integer) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN (SELECT count(*) FROM seats s
             WHERE s.event_id = p_event AND seat_is_free(s.status, s.hold_expires_at, v_now))
         + (SELECT coalesce(sum(greatest(t.capacity - t.held - t.sold, 0)), 0)::bigint
              FROM ga_tiers t WHERE t.event_id = p_event);
END $$;
