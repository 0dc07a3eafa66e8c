-- Access codes (B17): each raises the ticket limit of the accounts that use it. Used in a hold, under the account's row; a
-- code with a number of uses is locked after that row.

-- Whether an account has used a code: then its limit is raised already, and stays so.
CREATE OR REPLACE FUNCTION has_used_code(p_event integer, p_principal text, p_code text)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM access_code_uses u
                    WHERE u.event_id = p_event AND u.principal = p_principal AND u.code = p_code)
$$;

-- What limit a code gives to an account; 0 without a code, or when the account has used it; NULL when the code is refused.
-- A code with a number of uses is locked until the end of the transaction, so that the last use goes to one account.
-- Caller: the account row.
CREATE OR REPLACE FUNCTION limit_by_code(p_event integer, p_principal text, p_code text, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_code access_codes;
BEGIN
    IF coalesce(p_code, '') = '' OR has_used_code(p_event, p_principal, p_code) THEN
        RETURN 0;
    END IF;
    SELECT * INTO v_code FROM access_codes c WHERE c.event_id = p_event AND c.code = p_code;
    IF v_code.max_uses IS NOT NULL THEN
        SELECT * INTO v_code FROM access_codes c WHERE c.event_id = p_event AND c.code = p_code FOR NO KEY UPDATE;
    END IF;
    IF v_code.code IS NULL OR p_now >= v_code.valid_until OR v_code.uses >= v_code.max_uses THEN
        RETURN NULL;
    END IF;
    RETURN v_code.max_per_account;
END $$;

-- Spend a code's use, once for each account, and raise the account's limit for good: at the confirmation it counts still.
-- Caller: the account row, and limit_by_code in this transaction.
CREATE OR REPLACE FUNCTION note_code_use(p_event integer, p_principal text, p_code text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_limit integer;
BEGIN
    IF coalesce(p_code, '') = '' THEN
        RETURN;
    END IF;
    INSERT INTO access_code_uses (event_id, principal, code, max_per_account, used_at)
    SELECT c.event_id, p_principal, c.code, c.max_per_account, p_now
      FROM access_codes c WHERE c.event_id = p_event AND c.code = p_code
        ON CONFLICT ON CONSTRAINT access_code_used_once DO NOTHING
    RETURNING max_per_account INTO v_limit;
    IF v_limit IS NULL THEN
        RETURN;
    END IF;
    UPDATE access_codes c SET uses = c.uses + 1
     WHERE c.event_id = p_event AND c.code = p_code AND c.max_uses IS NOT NULL;
    UPDATE account_limits a SET raised_to = greatest(a.raised_to, v_limit)
     WHERE a.event_id = p_event AND a.principal = p_principal;
END $$;

-- How many tickets an account may have in an event: the event's limit, or what a code raised it to.
CREATE OR REPLACE FUNCTION limit_of_account(p_event events, p_principal text) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT greatest((p_event).max_per_account, max(a.raised_to)) FROM account_limits a
     WHERE a.event_id = (p_event).event_id AND a.principal = p_principal
$$;

-- Make a code, or give it new terms; accounts that have used it keep what it gave them. Whether its uses are limited stays
-- as it was: the uses of an unlimited code are not counted in its row. Audited with the terms before and after.
CREATE OR REPLACE FUNCTION set_access_code(
    p_principal text, p_staff uuid, p_event integer, p_id uuid, p_code text, p_max_per_account integer, p_max_uses integer,
    p_valid_until timestamptz, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'access-codes', p_key, p_digest, event_subject(p_event));
    v_now    timestamptz := booking_now();
    v_before access_codes;
    v_after  access_codes;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF NOT EXISTS (SELECT FROM events e WHERE e.event_id = p_event) THEN
        RETURN refused('event-not-found');
    END IF;
    INSERT INTO access_codes (access_code_id, event_id, code, max_per_account, max_uses, valid_until, created_at)
    VALUES (p_id, p_event, p_code, p_max_per_account, p_max_uses, p_valid_until, v_now)
        ON CONFLICT ON CONSTRAINT access_codes_pk DO NOTHING
    RETURNING * INTO v_after;
    IF v_after.code IS NULL THEN
        SELECT * INTO v_before FROM access_codes c
         WHERE c.event_id = p_event AND c.code = p_code FOR NO KEY UPDATE;
        v_answer := seen_key(p_principal, 'access-codes', p_key, p_digest, event_subject(p_event));
        IF v_answer.code IS NOT NULL THEN
            RETURN v_answer;
        ELSIF (v_before.max_uses IS NULL) <> (p_max_uses IS NULL) OR p_max_uses < v_before.uses THEN
            RETURN refused('invalid-request', '/max_uses');
        END IF;
        UPDATE access_codes c
           SET max_per_account = p_max_per_account, max_uses = p_max_uses, valid_until = p_valid_until
         WHERE c.event_id = p_event AND c.code = p_code
        RETURNING * INTO v_after;
    END IF;
    PERFORM note_change(p_principal, 'access-code-set', p_event::text, '', jsonb_build_object(
        'staff_id', p_staff, 'code', p_code, 'from', terms_of_code(v_before), 'to', terms_of_code(v_after)), v_now);
    PERFORM spend_key(p_principal, 'access-codes', p_key, p_digest, event_subject(p_event), v_after.access_code_id, v_now);
    RETURN done(v_after.access_code_id);
END $$;

CREATE OR REPLACE FUNCTION terms_of_code(p_code access_codes) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_code.code IS NOT NULL
                THEN jsonb_build_object('max_per_account', p_code.max_per_account, 'max_uses', p_code.max_uses,
                                        'valid_until', p_code.valid_until) END
$$;
