-- Admission tokens at the authority (R18). The token itself was verified outside: its signature, its times, its account and its
-- session. Here is what only one place can know: which slot and session of the account count, and what was spent.

-- Let an account's session in: '' or why not. The same session again changes nothing and writes nothing.
CREATE OR REPLACE FUNCTION enter_admission(
    p_event integer, p_principal text, p_slot uuid, p_session text, p_generation bigint, p_slot_ends_at timestamptz,
    p_single boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_now  timestamptz := booking_now();
    v_code text;
BEGIN
    v_code := why_not_admitted(p_event, p_principal, p_slot, p_session, p_generation, p_slot_ends_at);
    IF v_code IS DISTINCT FROM 'newer' THEN
        RETURN v_code;
    END IF;
    INSERT INTO admission_sessions AS s
           (event_id, principal, slot_id, session, generation, slot_ends_at, single_purchase, entered_at)
    SELECT e.event_id, p_principal, p_slot, p_session, p_generation, p_slot_ends_at, p_single, v_now
      FROM events e WHERE e.event_id = p_event
        ON CONFLICT ON CONSTRAINT admission_sessions_pk DO UPDATE
       SET slot_id = excluded.slot_id, session = excluded.session, generation = excluded.generation,
           slot_ends_at = excluded.slot_ends_at, single_purchase = excluded.single_purchase,
           entered_at = excluded.entered_at, spent_at = NULL, spent_by = NULL
     WHERE (s.generation < excluded.generation AND NOT (s.slot_id = excluded.slot_id AND s.spent_at IS NOT NULL))
        OR (s.generation = excluded.generation AND s.slot_id = excluded.slot_id AND s.session = excluded.session
            AND s.spent_at IS NULL AND s.slot_ends_at < excluded.slot_ends_at);
    -- A new statement sees who came first, if it was not us.
    RETURN why_not_admitted(p_event, p_principal, p_slot, p_session, p_generation, p_slot_ends_at);
END $$;

-- '' in already, 'spent', 'superseded' by a newer session or slot, 'newer' than what is known.
CREATE OR REPLACE FUNCTION why_not_admitted(
    p_event integer, p_principal text, p_slot uuid, p_session text, p_generation bigint, p_slot_ends_at timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_known admission_sessions;
BEGIN
    SELECT * INTO v_known FROM admission_sessions s WHERE s.event_id = p_event AND s.principal = p_principal;
    RETURN CASE
        WHEN v_known.event_id IS NULL THEN 'newer'
        WHEN v_known.slot_id = p_slot AND v_known.spent_at IS NOT NULL THEN 'spent'
        WHEN v_known.generation > p_generation THEN 'superseded'
        WHEN v_known.generation < p_generation THEN 'newer'
        WHEN v_known.slot_id <> p_slot OR v_known.session <> p_session THEN 'superseded'
        WHEN v_known.slot_ends_at < p_slot_ends_at THEN 'newer'
        ELSE '' END;
END $$;

-- Whether somebody may hold in an event that asks for admission: read under the account's lock, as the limits are.
CREATE OR REPLACE FUNCTION is_admitted(p_event integer, p_principal text, p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM admission_sessions s
                    WHERE s.event_id = p_event AND s.principal = p_principal AND s.spent_at IS NULL
                      AND p_now < s.slot_ends_at + interval '5 s')
$$;

-- A room's public keys, as it publishes them now, and the keys of its own that it no longer does: those are retired for good. Of
-- the keys of other rooms it knows nothing.
DROP FUNCTION IF EXISTS publish_admission_keys(text[], bytea[]);
CREATE OR REPLACE FUNCTION publish_admission_keys(p_ids text[], p_keys bytea[], p_retired text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO admission_keys AS a (key_id, public_key, added_at, published_at)
    SELECT k.id, k.key, booking_now(), booking_now() FROM unnest(p_ids, p_keys) AS k (id, key) ORDER BY k.id
        ON CONFLICT ON CONSTRAINT admission_keys_pk DO UPDATE SET published_at = excluded.published_at;
    UPDATE admission_keys k SET retired_at = booking_now() WHERE k.retired_at IS NULL AND k.key_id = ANY (p_retired);
END $$;

-- What the room wants to know of an event's sale. Left: nothing, places in holds that may come back (W7), or places to buy.
CREATE OR REPLACE FUNCTION sale_for_room(p_event integer) RETURNS TABLE (
    opens_at timestamptz, is_over boolean, is_paused boolean, is_free boolean, may_come_back boolean
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    RETURN QUERY
    SELECT e.sale_opens_at, e.status = 'CANCELLED' OR e.starts_at <= v_now, e.status = 'PAUSED',
           EXISTS (SELECT FROM seats s WHERE s.event_id = p_event AND seat_is_free(s.status, s.hold_expires_at, v_now))
           OR EXISTS (SELECT FROM ga_tiers t WHERE t.event_id = p_event AND t.held + t.sold < t.capacity),
           EXISTS (SELECT FROM seats s WHERE s.event_id = p_event AND s.status IN (1, 2))
           OR EXISTS (SELECT FROM ga_tiers t WHERE t.event_id = p_event AND t.held > 0)
      FROM events e WHERE e.event_id = p_event;
END $$;
