-- What a provider tells by itself (R26): stored once under its own id, then applied. The row is there before anything is done
-- because of it, so a crash between the two leaves an event that is applied again, and every step is harmless twice.

-- Store an event. 'new'; 'again': seen, but not applied yet; 'seen': done with; 'late': not signed within p_tolerance_s of now,
-- and not stored (P31).
CREATE OR REPLACE FUNCTION note_provider_event(
    p_provider text, p_event text, p_signed_at timestamptz, p_tolerance_s double precision, p_facts jsonb
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_state text;
BEGIN
    IF abs(extract(epoch FROM v_now - p_signed_at)) > p_tolerance_s THEN
        RETURN 'late';
    END IF;
    INSERT INTO provider_events (provider, event_ref, received_at, body, next_attempt_at)
    VALUES (p_provider, p_event, v_now, p_facts, v_now + interval '10 s')
        ON CONFLICT (provider, event_ref) DO NOTHING;
    IF FOUND THEN
        RETURN 'new';
    END IF;
    SELECT e.state INTO v_state FROM provider_events e WHERE e.provider = p_provider AND e.event_ref = p_event;
    RETURN CASE WHEN v_state IN ('received', 'parked') THEN 'again' ELSE 'seen' END;
END $$;

-- What an event is about: the operation of that kind, and its charge; NULL for what is not here. p_key: our operation's key;
-- p_charge_key: that of the charge's authorization; p_reference: the provider's name of the charge. A capture or void without
-- a key is the one that its charge has.
CREATE OR REPLACE FUNCTION find_event_operation(
    p_providers text[], p_kind text, p_key text, p_charge_key text, p_reference text,
    OUT operation_id uuid, OUT charge_id uuid
) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_op payment_operations;
BEGIN
    IF p_key <> '' THEN
        SELECT * INTO v_op FROM payment_operations p
         WHERE p.idempotency_key = p_key AND p.provider = ANY (p_providers) AND p.kind = p_kind;
        operation_id := v_op.operation_id;
        charge_id := coalesce(v_op.parent_id, v_op.operation_id);
        RETURN;
    END IF;
    IF p_charge_key <> '' THEN
        SELECT p.operation_id INTO charge_id FROM payment_operations p
         WHERE p.idempotency_key = p_charge_key AND p.provider = ANY (p_providers) AND p.kind = 'authorize';
    END IF;
    IF charge_id IS NULL AND p_reference <> '' THEN
        SELECT p.operation_id INTO charge_id FROM payment_operations p
         WHERE p.provider_ref = p_reference AND p.kind IN ('authorize', 'sale') AND p.provider = ANY (p_providers)
         ORDER BY p.created_at LIMIT 1;
    END IF;
    IF p_kind = 'authorize' THEN
        operation_id := charge_id;
    ELSIF p_kind IN ('capture', 'void') THEN
        SELECT p.operation_id INTO operation_id FROM follow_ups_of(charge_id) p WHERE p.kind = p_kind
         ORDER BY p.status = 'DECLINED', p.created_at DESC LIMIT 1;  -- one that was refused may be tried again
    END IF;
END $$;

-- Done with an event: p_state applied or ignored, with its evidence beside the operation; once, whoever else is at it. Its id
-- is kept, so that it is never applied again; what it said is the evidence's from now on.
CREATE OR REPLACE FUNCTION settle_provider_event(
    p_provider text, p_event text, p_state text, p_operation uuid, p_evidence text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_now      timestamptz := booking_now();
    v_received timestamptz;
BEGIN
    UPDATE provider_events e
       SET state = p_state, operation_id = p_operation, next_attempt_at = NULL, body = '{}',
           applied_at = CASE p_state WHEN 'applied' THEN v_now END
     WHERE e.provider = p_provider AND e.event_ref = p_event AND e.state IN ('received', 'parked')
    RETURNING e.received_at INTO v_received;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_operation IS NOT NULL THEN
        INSERT INTO operation_evidence (operation_id, at, source, direction, body)
        VALUES (p_operation, v_received, 'webhook:' || p_provider, 'received', p_evidence);
    END IF;
    RETURN true;
END $$;

-- Events that waited for a charge to be known by its reference are due, before its capture is.
CREATE OR REPLACE FUNCTION wake_provider_events(p_provider text, p_reference text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_woken integer;
BEGIN
    UPDATE provider_events e SET next_attempt_at = booking_now()
     WHERE e.state = 'parked' AND e.provider = p_provider AND e.body ->> 'provider_ref' = p_reference;
    GET DIAGNOSTICS v_woken = ROW_COUNT;
    RETURN v_woken;
END $$;

-- Keep an event until what it is about is here (P8): looked at again at once, and then ever more seldom, because most that wait for
-- long are nobody's. An event of its charge wakes it; a charge that is known from elsewhere (a till's report) does not, so in its
-- first hour it is looked at every five minutes. After p_days it is STRAY: the daily comparison finds what it was.
CREATE OR REPLACE FUNCTION park_provider_event(p_provider text, p_event text, p_days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    UPDATE provider_events e
       SET state = CASE WHEN late.is THEN 'stray' ELSE 'parked' END,
           attempts = e.attempts + 1,
           next_attempt_at = CASE WHEN NOT late.is THEN v_now + spread(least(late.most_s, 1 * 2 ^ least(e.attempts, 11))) END
      FROM (SELECT s.provider, s.event_ref, s.received_at < v_now - make_interval(days => p_days) AS is,
                   CASE WHEN s.received_at > v_now - interval '1 hour' THEN 300 ELSE 1800 END AS most_s
              FROM provider_events s WHERE s.provider = p_provider AND s.event_ref = p_event OFFSET 0) late
     WHERE e.provider = late.provider AND e.event_ref = late.event_ref AND e.state IN ('received', 'parked');
END $$;

-- Events that are due to be applied, each claimed for a while.
CREATE OR REPLACE FUNCTION claim_provider_events(p_limit integer)
RETURNS TABLE (provider text, event_ref text, body jsonb) LANGUAGE sql AS $$
    UPDATE provider_events e SET next_attempt_at = due.now + interval '30 s'
      FROM (SELECT d.provider, d.event_ref, n.now
              FROM (SELECT booking_now() AS now OFFSET 0) n
              JOIN provider_events d ON d.next_attempt_at <= n.now
             ORDER BY d.next_attempt_at LIMIT p_limit FOR NO KEY UPDATE OF d SKIP LOCKED) due
     WHERE e.provider = due.provider AND e.event_ref = due.event_ref
    RETURNING e.provider, e.event_ref, e.body
$$;

-- Have the worker ask its provider now: somebody has heard that there is news.
CREATE OR REPLACE FUNCTION ask_provider_now(p_operation uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_operations p SET next_attempt_at = booking_now()
     WHERE p.operation_id = p_operation AND p.kind <> 'sale' AND p.status IN ('SENT', 'UNKNOWN', 'ACTION_REQUIRED');
    RETURN FOUND;
END $$;

-- Keep the provider's reference of a charge before anything is done under it: whoever drives it next finds it there.
CREATE OR REPLACE FUNCTION remember_reference(p_operation uuid, p_reference text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_operations p SET provider_ref = p_reference, updated_at = booking_now()
     WHERE p.operation_id = p_operation AND p.provider_ref IN ('', p_reference)
       AND p.status IN ('CREATED', 'SENT', 'UNKNOWN', 'ACTION_REQUIRED');
    RETURN FOUND;
END $$;

-- Money that went back at the provider without us: a person has to say why (R27). p_movement: the provider's name of the refund.
DROP FUNCTION IF EXISTS note_refund_by_hand(uuid, uuid, text, bigint, text, jsonb);
CREATE OR REPLACE FUNCTION note_refund_by_hand(
    p_item uuid, p_charge uuid, p_movement text, p_amount bigint, p_currency text, p_detail jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_op payment_operations;
BEGIN
    SELECT * INTO v_op FROM payment_operations p WHERE p.operation_id = p_charge;
    PERFORM open_item_about(p_item, 'refund-provider-only', v_op.provider || ':' || p_movement, v_op.event_id,
                            v_op.order_id, p_charge, v_op.provider, p_amount, p_currency, p_detail, booking_now());
END $$;
