-- The daily comparison (R27): a run reads a provider's list page by page into `run_movements`, then compares all of it with our
-- ledger at once. A provider is asked between two transactions; whoever drives a run has a lease on it, and each page commits
-- with the place where the list goes on: killed anywhere, another goes on from there.

-- Begin a run, or find the one of this provider and day that is running. p_started_by 'authority': the run that the worker makes
-- of each day once; NULL when it has one. The list is read from where the oldest of what we decided that day was begun, eight
-- days back at most, to a little after the end: what we heard within the day happened in between. What is older than that is found
-- neither there nor here, so that no more than those days are looked through.
CREATE OR REPLACE FUNCTION start_run(
    p_run uuid, p_provider text, p_day date, p_since timestamptz, p_until timestamptz, p_started_by text
) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_run   uuid;
    v_ours  record;
BEGIN
    SELECT r.run_id INTO v_run FROM reconciliation_runs r
     WHERE r.provider = p_provider AND r.day = p_day AND r.state = 'running';
    IF FOUND THEN
        RETURN v_run;
    END IF;
    SELECT count(*) AS expected, min(p.created_at) AS oldest INTO v_ours
      FROM payment_operations p
     WHERE p.operation_id >= first_id_of(p_since - interval '9 days')
       AND p.provider = p_provider AND p.status = 'SUCCEEDED' AND p.updated_at >= p_since AND p.updated_at < p_until;
    INSERT INTO reconciliation_runs (run_id, provider, day, since, until, list_since, list_until, expected, started_by,
                                     started_at, due_at)
    VALUES (p_run, p_provider, p_day, p_since, p_until,
            greatest(p_since - interval '8 days', least(p_since, v_ours.oldest) - interval '1 hour'),
            p_until + interval '1 hour', v_ours.expected, p_started_by, v_now, v_now)
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN p_run;
    END IF;
    -- Somebody began it meanwhile, or the worker's own run of the day has been.
    RETURN (SELECT r.run_id FROM reconciliation_runs r
             WHERE r.provider = p_provider AND r.day = p_day AND r.state = 'running');
END $$;

-- A person asks for a run of a day; audited.
CREATE OR REPLACE FUNCTION ask_for_run(
    p_principal text, p_staff uuid, p_run uuid, p_provider text, p_day date, p_since timestamptz, p_until timestamptz,
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_subject CONSTANT uuid := event_subject(0);
    v_answer  sale_answer := seen_key(p_principal, 'reconciliation-runs', p_key, p_digest, v_subject);
    v_now     timestamptz := booking_now();
    v_run     uuid;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_run := start_run(p_run, p_provider, p_day, p_since, p_until, coalesce(p_staff::text, p_principal));
    PERFORM note_change(p_principal, 'reconciliation-run-started', v_run::text, '', jsonb_build_object(
        'staff_id', p_staff, 'provider', p_provider, 'day', p_day), v_now);
    PERFORM spend_key(p_principal, 'reconciliation-runs', p_key, p_digest, v_subject, v_run, v_now);
    RETURN done(v_run);
END $$;

-- Runs that are due and that nobody drives: the oldest one of these providers, leased to p_holder. p_run: this one alone.
CREATE OR REPLACE FUNCTION claim_run(p_providers text[], p_holder uuid, p_lease interval, p_run uuid)
RETURNS SETOF reconciliation_runs LANGUAGE sql AS $$
    UPDATE reconciliation_runs r SET holder = p_holder, held_until = due.now + p_lease
      FROM (SELECT d.run_id, n.now
              FROM (SELECT booking_now() AS now OFFSET 0) n
              JOIN reconciliation_runs d ON d.state = 'running' AND d.provider = ANY (p_providers)
                   AND (d.held_until IS NULL OR d.held_until <= n.now OR d.holder = p_holder)
                   AND CASE WHEN p_run IS NULL THEN d.due_at <= n.now ELSE d.run_id = p_run END
             ORDER BY d.due_at, d.run_id LIMIT 1 FOR NO KEY UPDATE OF d SKIP LOCKED) due
     WHERE r.run_id = due.run_id
    RETURNING r.*
$$;

-- Whether p_holder still drives a run; its lease begins anew, and nobody else can take or end the run before this transaction ends.
CREATE OR REPLACE FUNCTION keep_lease(p_run uuid, p_holder uuid, p_lease interval) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reconciliation_runs r SET held_until = booking_now() + p_lease
     WHERE r.run_id = p_run AND r.holder = p_holder AND r.state = 'running';
    RETURN FOUND;
END $$;

-- Keep a page of the provider's list, and where it goes on ('' at the end). False: the lease went to another.
CREATE OR REPLACE FUNCTION keep_page(p_run uuid, p_holder uuid, p_lease interval, p_movements jsonb, p_cursor text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_run reconciliation_runs;
BEGIN
    SELECT * INTO v_run FROM reconciliation_runs r
     WHERE r.run_id = p_run AND r.holder = p_holder AND r.state = 'running' AND NOT r.is_read FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO run_movements (run_id, number, provider_ref, movement_ref, idempotency_key, kind, status, amount_minor,
                               currency, at)
    SELECT p_run, v_run.read + m.ordinality, m.value ->> 'provider_ref', m.value ->> 'movement_ref',
           m.value ->> 'idempotency_key', m.value ->> 'kind', m.value ->> 'status', (m.value ->> 'amount_minor')::bigint,
           m.value ->> 'currency', (m.value ->> 'at')::timestamptz
      FROM jsonb_array_elements(p_movements) WITH ORDINALITY AS m (value, ordinality);
    UPDATE reconciliation_runs r
       SET read = r.read + jsonb_array_length(p_movements), cursor = p_cursor, is_read = p_cursor = '', attempts = 0,
           detail = '', held_until = booking_now() + p_lease
     WHERE r.run_id = p_run;
    RETURN true;
END $$;

-- A page could not be read: tried again a little later, by whoever comes first; after p_most tries in a row the run has failed.
CREATE OR REPLACE FUNCTION note_page_failed(p_run uuid, p_holder uuid, p_why text, p_most integer) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_now   timestamptz := booking_now();
    v_state text;
BEGIN
    UPDATE reconciliation_runs r
       SET attempts = r.attempts + 1, detail = p_why, holder = NULL, held_until = NULL,
           due_at = v_now + spread(least(300, 2 * 2 ^ least(r.attempts, 8))),
           state = CASE WHEN r.attempts + 1 >= p_most THEN 'failed' ELSE 'running' END,
           ended_at = CASE WHEN r.attempts + 1 >= p_most THEN v_now END
     WHERE r.run_id = p_run AND r.holder = p_holder AND r.state = 'running'
    RETURNING r.state INTO v_state;
    IF v_state = 'failed' THEN
        DELETE FROM run_movements m WHERE m.run_id = p_run;
    END IF;
    RETURN coalesce(v_state, 'lost');
END $$;

-- What a run found, kept; the items of this provider and day that it did not find again end by themselves. p_found: subjects.
CREATE OR REPLACE FUNCTION end_run(
    p_run uuid, p_holder uuid, p_matched integer, p_differences jsonb, p_opened integer, p_found text[], p_detail text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := booking_now();
    v_run reconciliation_runs;
BEGIN
    UPDATE reconciliation_runs r
       SET state = 'done', ended_at = v_now, matched = p_matched, differences = p_differences, opened_items = p_opened,
           detail = p_detail, holder = NULL, held_until = NULL
     WHERE r.run_id = p_run AND r.holder = p_holder AND r.state = 'running'
    RETURNING * INTO v_run;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM end_item(i.item_id, 'authority', 'not found any more by the comparison of ' || v_run.day, '', v_now)
       FROM reconciliation_items i
      WHERE i.resolved_at IS NULL AND i.provider = v_run.provider AND i.detail ->> 'day' = v_run.day::text
        AND i.operation_id IS NOT DISTINCT FROM CASE WHEN i.kind IN ('provider-only', 'duplicate-charge') THEN NULL
                                                      ELSE i.operation_id END
        AND NOT i.subject = ANY (p_found);
    DELETE FROM run_movements m WHERE m.run_id = p_run;
    RETURN true;
END $$;

-- Movements that a run has read, each with the operation of ours that it is: by our key; else, and for what people made at the
-- provider, by charge and kind. One movement for each operation: a second one is matched with nothing.
CREATE OR REPLACE FUNCTION matched_movements(p_run uuid) RETURNS TABLE (
    number integer, provider_ref text, movement_ref text, idempotency_key text, kind text, status text,
    amount_minor bigint, currency text, at timestamptz, operation_id uuid
) LANGUAGE sql STABLE AS $$
    WITH run AS MATERIALIZED (SELECT * FROM reconciliation_runs r WHERE r.run_id = p_run),
    moved AS MATERIALIZED (SELECT m.* FROM run_movements m WHERE m.run_id = p_run),
    by_key AS MATERIALIZED (
        SELECT DISTINCT ON (p.operation_id) m.number, p.operation_id
          FROM run, moved m
          JOIN payment_operations p ON p.idempotency_key = CASE
               WHEN EXISTS (SELECT FROM payment_operations l WHERE l.idempotency_key = late_key(m.idempotency_key))
               THEN late_key(m.idempotency_key) ELSE m.idempotency_key END
         WHERE m.idempotency_key <> '' AND p.provider = run.provider AND p.kind = m.kind
         -- Of several movements under one key: what became of it in the end, of the charge that we know, else the first.
         ORDER BY p.operation_id, m.status <> 'succeeded', m.provider_ref <> p.provider_ref, m.at, m.number),
    rest AS MATERIALIZED (
        SELECT m.number, m.provider_ref, m.kind, m.movement_ref,
               row_number() OVER (PARTITION BY m.provider_ref, m.kind, m.amount_minor ORDER BY m.at, m.number) AS n,
               m.amount_minor
          FROM moved m
         WHERE m.number NOT IN (SELECT k.number FROM by_key k) AND m.status <> 'declined' AND m.provider_ref <> ''),
    by_charge AS MATERIALIZED (
        SELECT r.number, p.operation_id
          FROM rest r
          JOIN (SELECT p.operation_id, p.provider_ref, p.kind, p.amount_minor, p.idempotency_key,
                       row_number() OVER (PARTITION BY p.provider_ref, p.kind, p.amount_minor
                                          ORDER BY p.status = 'DECLINED', p.created_at, p.operation_id) AS n
                  FROM run, payment_operations p
                 WHERE p.provider = run.provider AND p.provider_ref IN (SELECT r.provider_ref FROM rest r)
                   AND p.operation_id NOT IN (SELECT k.operation_id FROM by_key k)
                   -- A refund by hand is only what was recorded of it; ours have our key.
                   AND (p.kind <> 'refund' OR p.idempotency_key LIKE 'attached:%')) p
            ON p.provider_ref = r.provider_ref AND p.kind = r.kind AND p.amount_minor = r.amount_minor AND p.n = r.n),
    by_kind AS MATERIALIZED (  -- the same act on the same charge, of another amount
        SELECT DISTINCT ON (p.operation_id) r.number, p.operation_id
          FROM run, rest r
          JOIN payment_operations p ON p.provider_ref = r.provider_ref AND p.kind = r.kind
         WHERE p.provider = run.provider AND r.kind <> 'refund'
           AND r.number NOT IN (SELECT c.number FROM by_charge c)
           AND p.operation_id NOT IN (SELECT k.operation_id FROM by_key k UNION SELECT c.operation_id FROM by_charge c)
         ORDER BY p.operation_id, p.status = 'DECLINED', r.number)
    SELECT m.number, m.provider_ref, m.movement_ref, m.idempotency_key, m.kind, m.status, m.amount_minor, m.currency,
           m.at, f.operation_id
      FROM moved m
      LEFT JOIN (SELECT * FROM by_key UNION ALL SELECT * FROM by_charge
                  UNION ALL
                 (SELECT DISTINCT ON (k.number) k.* FROM by_kind k ORDER BY k.number, k.operation_id)) f USING (number)
$$;
