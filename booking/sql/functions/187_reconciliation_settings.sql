-- How items are dealt with, made from the version that somebody saw; audited from, to, why.
CREATE OR REPLACE FUNCTION change_reconciliation_settings(
    p_principal text, p_staff uuid, p_expected integer, p_settings jsonb, p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_subject CONSTANT uuid := event_subject(0);
    v_old     reconciliation_settings;
    v_new     reconciliation_settings;
    v_answer  sale_answer;
    v_now     timestamptz;
BEGIN
    INSERT INTO reconciliation_settings DEFAULT VALUES ON CONFLICT DO NOTHING;
    SELECT * INTO v_old FROM reconciliation_settings s FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'reconciliation-settings', p_key, p_digest, v_subject);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF v_old.version <> p_expected THEN
        RETURN refused('settings-changed', v_old.version::text);
    END IF;
    v_now := booking_now();
    v_new := jsonb_populate_record(v_old, p_settings);
    UPDATE reconciliation_settings s
       SET second_person_above_minor = v_new.second_person_above_minor, limits_by_currency = v_new.limits_by_currency,
           run_at_hour = v_new.run_at_hour, zone = v_new.zone, unknown_after_s = v_new.unknown_after_s,
           version = s.version + 1;
    PERFORM note_change(p_principal, 'reconciliation-settings-changed', 'reconciliation', p_reason, jsonb_build_object(
        'staff_id', p_staff, 'version', p_expected + 1, 'from', to_jsonb(v_old) - 'one_row', 'to', p_settings), v_now);
    PERFORM spend_key(p_principal, 'reconciliation-settings', p_key, p_digest, v_subject, v_subject, v_now);
    RETURN done(v_subject);
END $$;
