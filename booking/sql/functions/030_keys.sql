-- Idempotency keys of the calls whose key is not a row of their own (R6).

-- What a key answered before; every column NULL when it is new. A key is spent on one request: another digest, or the
-- same words about another hold or order, is a conflict.
CREATE OR REPLACE FUNCTION seen_key(
    p_principal text, p_route text, p_key text, p_digest bytea, p_subject uuid
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_key idempotency%ROWTYPE;
BEGIN
    SELECT * INTO v_key FROM idempotency i WHERE i.principal = p_principal AND i.route = p_route AND i.key = p_key;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v_key.request_digest <> p_digest OR v_key.subject_id <> p_subject THEN
        RETURN ROW ('key-reused', NULL, false, '', NULL)::sale_answer;
    END IF;
    RETURN ROW (v_key.code, v_key.result_id, true, '', NULL)::sale_answer;
END $$;

-- Spend a key, in the transaction that did what it was for. A call without a key spends none.
CREATE OR REPLACE FUNCTION spend_key(
    p_principal text, p_route text, p_key text, p_digest bytea, p_subject uuid, p_result uuid, p_now timestamptz,
    p_code text DEFAULT ''
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO idempotency (principal, route, key, request_digest, subject_id, result_id, code, created_at)
    SELECT p_principal, p_route, p_key, p_digest, p_subject, p_result, p_code, p_now WHERE p_key IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION refused(p_code text, p_detail text DEFAULT '', p_seats integer[] DEFAULT NULL)
RETURNS sale_answer LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW (p_code, NULL, false, p_detail, p_seats)::sale_answer
$$;

CREATE OR REPLACE FUNCTION done(p_result uuid)
RETURNS sale_answer LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW ('', p_result, false, '', NULL)::sale_answer
$$;
