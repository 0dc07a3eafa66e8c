-- Which provider takes the money of a channel, and which card reader belongs to a till. Each change spends a key and is audited.

-- Set the providers of a channel; p_event NULL for every event without a row of its own; no providers: the row goes.
CREATE OR REPLACE FUNCTION set_channel_providers(
    p_principal text, p_event integer, p_channel text, p_providers text[], p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    v_answer sale_answer;
    v_now    timestamptz;
    v_before text[];
BEGIN
    LOCK TABLE channel_providers IN SHARE ROW EXCLUSIVE MODE;
    v_answer := seen_key(p_principal, 'channel-providers', p_key, p_digest, v_nobody);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF p_event IS NOT NULL AND NOT EXISTS (SELECT FROM events e WHERE e.event_id = p_event) THEN
        RETURN refused('event-not-found');
    END IF;
    v_now := booking_now();
    DELETE FROM channel_providers c WHERE c.event_id IS NOT DISTINCT FROM p_event AND c.channel = p_channel
    RETURNING c.providers INTO v_before;
    IF p_providers <> '{}' THEN
        INSERT INTO channel_providers (event_id, channel, providers, changed_at, changed_by)
        VALUES (p_event, p_channel, p_providers, v_now, p_principal);
    END IF;
    INSERT INTO audit_log (at, principal, action, subject, reason, detail)
    VALUES (v_now, p_principal, 'channel-providers-changed', coalesce(p_event::text, ''), p_reason,
            jsonb_build_object('channel', p_channel, 'from', to_jsonb(v_before), 'to', to_jsonb(p_providers)));
    PERFORM spend_key(p_principal, 'channel-providers', p_key, p_digest, v_nobody, v_nobody, v_now);
    RETURN done(v_nobody);
END $$;

-- Give a reader to a till, and take it from the till that had it; '' takes the till's reader away.
CREATE OR REPLACE FUNCTION set_device_reader(
    p_principal text, p_device uuid, p_provider text, p_reader text, p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer;
    v_now    timestamptz;
    v_before text;
BEGIN
    LOCK TABLE device_readers IN SHARE ROW EXCLUSIVE MODE;
    v_answer := seen_key(p_principal, 'device-reader', p_key, p_digest, p_device);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF NOT EXISTS (SELECT FROM devices d WHERE d.device_id = p_device) THEN
        RETURN refused('not-found');
    END IF;
    v_now := booking_now();
    SELECT r.reader_ref INTO v_before FROM device_readers r WHERE r.device_id = p_device;
    DELETE FROM device_readers r
     WHERE r.device_id = p_device OR (r.provider = p_provider AND r.reader_ref = p_reader);
    IF p_reader <> '' THEN
        INSERT INTO device_readers (device_id, provider, reader_ref, changed_at, changed_by)
        VALUES (p_device, p_provider, p_reader, v_now, p_principal);
    END IF;
    INSERT INTO audit_log (at, principal, action, subject, reason, detail)
    VALUES (v_now, p_principal, 'device-reader-changed', p_device::text, p_reason,
            jsonb_build_object('provider', p_provider, 'from', coalesce(v_before, ''), 'to', p_reader));
    PERFORM spend_key(p_principal, 'device-reader', p_key, p_digest, p_device, p_device, v_now);
    RETURN done(p_device);
END $$;
