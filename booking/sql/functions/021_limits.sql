-- The limits beside an account's tickets (R7, R8): access codes, cards, the cap of seats being paid; and what a hold that is
-- decided alone has to look at.

-- ------------------------------------------------------------------ access codes (B17)

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

-- ------------------------------------------------------------------ what a hold that is decided alone looks at

-- The wanted seats that a house hold keeps back. A hint until the seats are locked.
CREATE OR REPLACE FUNCTION seats_of_house_hold(p_event integer, p_house uuid, p_seats integer[])
RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(SELECT s.seat_no FROM house_hold_seats k JOIN seats s USING (event_id, seat_no)
                  WHERE k.event_id = p_event AND k.seat_no = ANY (p_seats) AND k.house_hold_id = p_house
                    AND s.status = 4
                  ORDER BY s.seat_no);
END $$;

-- Whether a house hold still keeps these seats back, as far as they are BLOCKED. Caller: the seats' locks, under which alone
-- a seat changes its house hold.
CREATE OR REPLACE FUNCTION is_kept_by(p_event integer, p_house uuid, p_seats integer[])
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_seats = '{}' OR NOT EXISTS (
        SELECT FROM seats s
          LEFT JOIN house_hold_seats k ON k.event_id = s.event_id AND k.seat_no = s.seat_no AND k.house_hold_id = p_house
         WHERE s.event_id = p_event AND s.seat_no = ANY (p_seats) AND s.status = 4 AND k.seat_no IS NULL);
END $$;

-- Where the event has an orphan rule, lock the wanted seats and two on each side: what is left single depends on them. All
-- in one order; two holds of a row cannot leave a seat single between them.
CREATE OR REPLACE FUNCTION lock_row_beside(p_event integer, p_seats integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM events e WHERE e.event_id = p_event AND e.orphan_rule <> 'off') THEN
        PERFORM lock_seats(p_event, ARRAY(SELECT DISTINCT w + side FROM unnest(p_seats) AS w
                                            CROSS JOIN generate_series(-2, 2) AS side));
    END IF;
END $$;

-- The single seats that a hold of these would leave; none where the event has no orphan rule. Caller: lock_row_beside.
CREATE OR REPLACE FUNCTION orphans_left(p_event integer, p_seats integer[]) RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM events e WHERE e.event_id = p_event AND e.orphan_rule <> 'off') THEN
        RETURN coalesce(orphans_of(p_event, p_seats), '{}');
    END IF;
    RETURN '{}';
END $$;
