-- Alarms (R32): raised and cleared by whoever watches, acknowledged and set by operators; each change is in the audit log.

-- Raise an alarm; false when it is raised already, by another watcher.
CREATE OR REPLACE FUNCTION raise_alarm(
    p_alarm uuid, p_rule text, p_figure text, p_severity text, p_value double precision, p_raise_at double precision,
    p_clear_at double precision
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
BEGIN
    INSERT INTO alarms (alarm_id, rule, figure, severity, raised_at, value, worst, raise_at, clear_at)
    VALUES (p_alarm, p_rule, p_figure, p_severity, v_now, p_value, p_value, p_raise_at, p_clear_at)
        ON CONFLICT (rule) WHERE cleared_at IS NULL DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM note_change('alarms', 'alarm-raised', p_rule, '', jsonb_build_object(
        'alarm_id', p_alarm, 'figure', p_figure, 'severity', p_severity,
        'from', jsonb_build_object('state', 'calm'), 'to', jsonb_build_object('state', p_severity, 'value', p_value)),
        v_now);
    RETURN true;
END $$;

-- The end of an alarm, with the worst that was seen.
CREATE OR REPLACE FUNCTION clear_alarm(p_alarm uuid, p_value double precision, p_worst double precision)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_alarm alarms;
BEGIN
    UPDATE alarms a SET cleared_at = v_now, worst = p_worst
     WHERE a.alarm_id = p_alarm AND a.cleared_at IS NULL
    RETURNING * INTO v_alarm;
    IF FOUND THEN
        PERFORM note_change('alarms', 'alarm-cleared', v_alarm.rule, '', jsonb_build_object(
            'alarm_id', p_alarm, 'figure', v_alarm.figure, 'worst', p_worst,
            'from', jsonb_build_object('state', v_alarm.severity, 'value', v_alarm.value),
            'to', jsonb_build_object('state', 'calm', 'value', p_value)), v_now);
    END IF;
END $$;

-- Somebody has seen it. The first one counts; again is answered the same.
CREATE OR REPLACE FUNCTION acknowledge_alarm(
    p_principal text, p_staff uuid, p_name text, p_alarm uuid, p_note text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_alarm  alarms;
    v_answer sale_answer;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_alarm FROM alarms a WHERE a.alarm_id = p_alarm FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'alarm-acknowledge', p_key, p_digest, p_alarm);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF v_alarm.alarm_id IS NULL THEN
        RETURN refused('alarm-not-found');
    END IF;
    v_now := booking_now();
    IF v_alarm.acknowledged_at IS NULL THEN
        UPDATE alarms a SET acknowledged_at = v_now, acknowledged_by = p_name, note = p_note WHERE a.alarm_id = p_alarm;
        PERFORM note_change(p_principal, 'alarm-acknowledged', v_alarm.rule, p_note, jsonb_build_object(
            'staff_id', p_staff, 'alarm_id', p_alarm, 'from', jsonb_build_object('acknowledged', false),
            'to', jsonb_build_object('acknowledged', true)), v_now);
    END IF;
    PERFORM spend_key(p_principal, 'alarm-acknowledge', p_key, p_digest, p_alarm, p_alarm, v_now);
    RETURN done(p_alarm);
END $$;

-- Another setting for a rule, from the version that was seen: 1 is the program's own. `p_from` and `p_to` have every member.
CREATE OR REPLACE FUNCTION change_alarm_rule(
    p_principal text, p_staff uuid, p_rule text, p_expected integer, p_from jsonb, p_to jsonb, p_reason text, p_key text,
    p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_subject CONSTANT uuid := md5(p_rule)::uuid;
    v_new     alarm_rules;
    v_version integer;
    v_answer  sale_answer;
    v_now     timestamptz;
BEGIN
    LOCK TABLE alarm_rules IN SHARE ROW EXCLUSIVE MODE;
    v_answer := seen_key(p_principal, 'alarm-rule', p_key, p_digest, v_subject);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT coalesce(max(r.version), 1) INTO v_version FROM alarm_rules r WHERE r.rule = p_rule;
    IF v_version <> p_expected THEN
        RETURN refused('settings-changed', v_version::text);
    END IF;
    v_now := booking_now();
    v_new := jsonb_populate_record(NULL::alarm_rules, p_to);
    INSERT INTO alarm_rules AS r (rule, raise_at, clear_at, raise_after_s, clear_after_s, severity, enabled, version)
    VALUES (p_rule, v_new.raise_at, v_new.clear_at, v_new.raise_after_s, v_new.clear_after_s, v_new.severity,
            v_new.enabled, p_expected + 1)
        ON CONFLICT ON CONSTRAINT alarm_rules_pk DO UPDATE
       SET raise_at = excluded.raise_at, clear_at = excluded.clear_at, raise_after_s = excluded.raise_after_s,
           clear_after_s = excluded.clear_after_s, severity = excluded.severity, enabled = excluded.enabled,
           version = excluded.version;
    PERFORM note_change(p_principal, 'alarm-rule-changed', p_rule, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'version', p_expected + 1, 'from', p_from, 'to', p_to), v_now);
    PERFORM spend_key(p_principal, 'alarm-rule', p_key, p_digest, v_subject, v_subject, v_now);
    RETURN done(v_subject);
END $$;
