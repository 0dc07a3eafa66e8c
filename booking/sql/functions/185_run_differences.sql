-- What a comparison finds. Each function answers with rows of one shape; `subject` names the difference, the same in every run.
-- Those that look at whole tables never join them row by row: nobody has analysed what a run has just read.

-- Whether an authorization that we have as declined is gone at the provider as well: a void of it, there or here.
CREATE OR REPLACE FUNCTION is_let_go(p_charge uuid, p_provider_ref text, p_run uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT has_follow_up(p_charge, 'void', 'SUCCEEDED') OR open_follow_up_of(p_charge) IS NOT NULL
        OR EXISTS (SELECT FROM run_movements m
                    WHERE m.run_id = p_run AND m.provider_ref = p_provider_ref AND m.kind = 'void'
                      AND m.status = 'succeeded')
$$;

-- Movements of the day that are ours and were found otherwise, and those that people made at the provider on charges of ours.
CREATE OR REPLACE FUNCTION differences_of_movements(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE SET enable_nestloop = off AS $$
    WITH run AS MATERIALIZED (SELECT * FROM reconciliation_runs r WHERE r.run_id = p_run),
    moved AS MATERIALIZED (SELECT * FROM run_movements m WHERE m.run_id = p_run),
    found AS (
        SELECT m.*, p.operation_id AS op_id, p.order_id, p.event_id, p.status AS our_status, p.kind AS our_kind,
               p.amount_minor AS our_minor, p.currency AS our_currency, run.provider,
               CASE
                   WHEN m.operation_id IS NOT NULL AND p.status NOT IN ('SUCCEEDED', 'DECLINED') THEN ''  -- asked about
                   WHEN m.operation_id IS NOT NULL AND m.status = 'declined'
                       THEN CASE WHEN p.status = 'SUCCEEDED' AND p.decided_by NOT LIKE 'supervisor:%'
                                 THEN 'state-differs' ELSE '' END
                   WHEN m.operation_id IS NOT NULL AND p.status = 'DECLINED'
                       THEN CASE WHEN p.kind = 'authorize' AND is_let_go(p.operation_id, m.provider_ref, p_run)
                                 THEN '' ELSE 'state-differs' END
                   WHEN m.operation_id IS NOT NULL AND p.currency <> m.currency THEN 'currency-differs'
                   WHEN m.operation_id IS NOT NULL AND p.amount_minor <> m.amount_minor THEN 'amount-differs'
                   WHEN m.operation_id IS NOT NULL OR m.status <> 'succeeded' OR p.operation_id IS NULL THEN ''
                   WHEN m.kind = 'refund' THEN 'refund-provider-only'
                   WHEN m.kind = 'void' AND p.status <> 'SUCCEEDED' THEN ''
                   ELSE 'state-differs' END AS difference
          FROM run, moved m
          LEFT JOIN LATERAL (
               SELECT p.* FROM payment_operations p WHERE p.operation_id = m.operation_id
                UNION ALL
               (SELECT p.* FROM run, payment_operations p
                 WHERE m.operation_id IS NULL AND p.provider_ref = m.provider_ref AND p.provider = run.provider
                   AND m.provider_ref <> '' AND p.kind = 'authorize'
                 ORDER BY p.status = 'DECLINED', p.created_at LIMIT 1)) p ON true
         WHERE m.at >= run.since AND m.at < run.until AND m.status <> 'pending')
    SELECT f.difference, format('%s:%s', f.provider, coalesce(nullif(f.movement_ref, ''),
                                format('%s:%s:%s', f.provider_ref, f.kind, f.number))),
           f.event_id, f.order_id, f.op_id, f.amount_minor, f.currency,
           jsonb_build_object('provider_ref', f.provider_ref, 'movement_ref', f.movement_ref, 'there', f.status,
                              'there_kind', f.kind, 'there_minor', f.amount_minor, 'there_currency', f.currency,
                              'there_at', f.at, 'here', f.our_status, 'here_kind', f.our_kind, 'here_minor', f.our_minor,
                              'here_currency', f.our_currency)
      FROM found f WHERE f.difference <> ''
$$;

-- Charges at the provider that are no operation of ours, and hold money or the promise of it: one row for each. One whose key
-- is ours although our operation is another charge was charged twice. A refund of a charge that nobody knows is told alone.
CREATE OR REPLACE FUNCTION stray_charges(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE SET enable_nestloop = off AS $$
    WITH run AS MATERIALIZED (SELECT * FROM reconciliation_runs r WHERE r.run_id = p_run),
    strays AS (
        SELECT m.provider_ref, min(m.currency) AS currency, min(m.at) AS at, max(m.idempotency_key) AS key,
               min(m.movement_ref) AS movement_ref,
               coalesce(sum(m.amount_minor) FILTER (WHERE m.kind = 'authorize'), 0) AS authorized,
               coalesce(sum(m.amount_minor) FILTER (WHERE m.kind = 'capture'), 0) AS captured,
               coalesce(sum(m.amount_minor) FILTER (WHERE m.kind = 'refund'), 0) AS refunded,
               coalesce(bool_or(m.kind = 'void'), false) AS voided
          FROM run_movements m
         WHERE m.run_id = p_run AND m.status = 'succeeded' AND m.operation_id IS NULL
           AND NOT EXISTS (SELECT FROM run JOIN payment_operations p ON p.provider = run.provider
                            WHERE p.provider_ref = m.provider_ref AND p.kind = 'authorize')
         GROUP BY m.provider_ref)
    SELECT CASE WHEN s.authorized + s.captured = 0 THEN 'refund-provider-only'
                WHEN p.operation_id IS NOT NULL THEN 'duplicate-charge' ELSE 'provider-only' END,
           format('%s:%s', run.provider, coalesce(nullif(s.provider_ref, ''), s.movement_ref)),
           p.event_id, p.order_id, NULL::uuid,
           CASE WHEN s.captured > 0 THEN s.captured - s.refunded WHEN s.authorized > 0 THEN s.authorized
                ELSE s.refunded END::bigint, s.currency,
           jsonb_build_object('provider_ref', s.provider_ref, 'authorized_minor', greatest(s.authorized, s.captured),
                              'captured_minor', s.captured, 'refunded_minor', s.refunded, 'there_at', s.at, 'key', s.key)
      FROM run, strays s
      LEFT JOIN payment_operations p ON s.key <> '' AND p.idempotency_key = s.key
     WHERE s.at >= run.since AND s.at < run.until AND NOT s.voided
       AND (s.captured > s.refunded OR s.captured = 0)
$$;

-- What we have as done within the day and the provider does not list at all. Not what a person decided, nor what was decided
-- while the list was being read.
CREATE OR REPLACE FUNCTION operations_of_ours_alone(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE SET enable_nestloop = off AS $$
    SELECT 'ours-only', format('%s:%s', p.provider, p.operation_id), p.event_id, p.order_id, p.operation_id,
           p.amount_minor, p.currency,
           jsonb_build_object('here', p.status, 'here_kind', p.kind, 'here_minor', p.amount_minor,
                              'provider_ref', p.provider_ref)
      FROM reconciliation_runs r
      JOIN payment_operations p ON p.provider = r.provider
     WHERE r.run_id = p_run AND p.status = 'SUCCEEDED'
       AND p.operation_id >= (SELECT first_id_of(l.list_since - interval '1 day') FROM reconciliation_runs l WHERE l.run_id = p_run)
       AND p.kind IN ('authorize', 'capture', 'void', 'refund') AND p.decided_by LIKE 'provider:%'
       AND p.updated_at >= r.since AND p.updated_at < least(r.until, r.started_at) AND p.created_at >= r.list_since
       AND NOT EXISTS (SELECT FROM run_movements m WHERE m.run_id = p_run AND m.operation_id = p.operation_id)
$$;

-- What the tickets of an order that are good for entry were sold for.
CREATE OR REPLACE FUNCTION value_of_tickets(p_order uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(coalesce(s.amount_minor, g.amount_minor)), 0)::bigint
      FROM tickets t
      LEFT JOIN order_seats s ON s.order_id = t.order_id AND s.seat_no = t.seat_no
      LEFT JOIN order_places g ON g.order_id = t.order_id AND g.place_no = t.place_no
     WHERE t.order_id = p_order AND t.status <> 'VOID'
$$;

-- Orders of the day that have a charge of this provider: valid tickets that nobody has paid for, and money without a ticket.
CREATE OR REPLACE FUNCTION differences_of_tickets(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE AS $$
    WITH of_day AS MATERIALIZED (
        SELECT o.*, r.started_at AS read_at
          FROM reconciliation_runs r
          JOIN orders o ON o.order_id >= first_id_of(r.since - interval '8 days')
         WHERE r.run_id = p_run AND coalesce(o.confirmed_at, o.ended_at) >= r.since
           AND coalesce(o.confirmed_at, o.ended_at) < r.until
           AND EXISTS (SELECT FROM payment_operations p
                        WHERE p.order_id = o.order_id AND p.provider = r.provider
                          AND p.kind IN ('authorize', 'sale', 'cash'))
           AND NOT EXISTS (SELECT FROM reconciliation_items i
                            WHERE i.order_id = o.order_id
                              AND i.kind NOT IN ('ticket-without-money', 'money-without-ticket')
                              AND (i.resolved_at IS NULL OR i.resolved_by LIKE 'supervisor:%'))),
    money AS (
        SELECT o.order_id, o.event_id, o.currency, o.status, o.confirmed_at, o.read_at,
               coalesce(sum(m.charged - m.refunded) FILTER (WHERE m.standing IN ('taken', 'capturing')
                        OR m.standing = 'authorized' AND open_follow_up_of(m.operation_id) IS NOT NULL), 0) AS net,
               coalesce(sum(m.refundable) FILTER (WHERE m.standing <> 'lost'), 0) AS kept
          FROM of_day o LEFT JOIN LATERAL money_of_order(o.order_id) m ON true
         GROUP BY 1, 2, 3, 4, 5, 6),
    judged AS (
        SELECT m.*, v.value, lines_without_ticket(m.order_id) AS missing,
               CASE WHEN v.value > m.net THEN 'ticket-without-money'
                    WHEN m.status IN ('CONFIRMED', 'PARTLY_REFUNDED') AND m.net > 0
                         AND m.confirmed_at < m.read_at - interval '10 min'
                         AND lines_without_ticket(m.order_id) > 0 AND NOT is_compensation_due(m.order_id)
                        THEN 'money-without-ticket'
                    WHEN m.status IN ('CANCELLED', 'EXPIRED') AND m.kept > 0 THEN 'money-without-ticket' ELSE '' END AS found
          FROM money m CROSS JOIN LATERAL (SELECT value_of_tickets(m.order_id) AS value) v)
    SELECT j.found, 'order:' || j.order_id, j.event_id, j.order_id, NULL::uuid,
           CASE WHEN j.found = 'ticket-without-money' THEN j.value - j.net
                WHEN j.status IN ('CANCELLED', 'EXPIRED') THEN j.kept ELSE greatest(j.net - j.value, 0) END::bigint,
           j.currency, jsonb_build_object('tickets_minor', j.value, 'money_minor', j.net, 'without_ticket', j.missing,
                                          'order', j.status)
      FROM judged j WHERE j.found <> ''
$$;

-- Ends of day of the day's terminals that do not add up to what we have of them.
CREATE OR REPLACE FUNCTION differences_of_terminals(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE AS $$
    SELECT 'terminal-total-differs', 'totals:' || t.totals_id, NULL::integer, NULL::uuid, NULL::uuid, abs(d.minor),
           t.currency, detail_of_totals(t)
      FROM reconciliation_runs r
      JOIN terminal_totals t ON t.provider = r.provider AND t.closed_at >= r.since AND t.closed_at < r.until
     CROSS JOIN LATERAL (SELECT terminal_difference(t.totals_id) AS minor) d
     WHERE r.run_id = p_run AND d.minor <> 0
$$;

-- All of it, without what a person has settled, and what has an item of another kind already.
CREATE OR REPLACE FUNCTION differences_of_run(p_run uuid) RETURNS TABLE (
    kind text, subject text, event_id integer, order_id uuid, operation_id uuid, amount_minor bigint, currency text,
    detail jsonb
) LANGUAGE sql STABLE AS $$
    SELECT d.kind, d.subject, d.event_id, d.order_id, d.operation_id, d.amount_minor, d.currency,
           d.detail || jsonb_build_object('day', r.day, 'run_id', r.run_id)
      FROM reconciliation_runs r
     CROSS JOIN LATERAL (SELECT * FROM differences_of_movements(p_run)
                          UNION ALL SELECT * FROM stray_charges(p_run)
                          UNION ALL SELECT * FROM operations_of_ours_alone(p_run)
                          UNION ALL SELECT * FROM differences_of_tickets(p_run)
                          UNION ALL SELECT * FROM differences_of_terminals(p_run)) d
     WHERE r.run_id = p_run
       AND NOT EXISTS (SELECT FROM reconciliation_items i
                        WHERE i.subject = d.subject AND i.kind = d.kind AND i.resolved_by LIKE 'supervisor:%')
       AND NOT EXISTS (SELECT FROM reconciliation_items i
                        WHERE i.operation_id = d.operation_id AND i.resolved_at IS NULL AND i.kind <> d.kind)
     ORDER BY d.kind, d.subject
$$;

-- How many movements of the day are ours and agree with what we have.
CREATE OR REPLACE FUNCTION matched_of_run(p_run uuid) RETURNS integer LANGUAGE sql STABLE SET enable_nestloop = off AS $$
    SELECT count(*)::integer
      FROM reconciliation_runs r
      JOIN run_movements m USING (run_id)
      JOIN payment_operations p ON p.operation_id = m.operation_id
     WHERE r.run_id = p_run AND m.at >= r.since AND m.at < r.until
       AND (p.status, p.amount_minor, p.currency) = (upper(m.status), m.amount_minor, m.currency)
$$;

-- Operations that the provider has an answer for, and we do not: asked about at once. Returns how many.
CREATE OR REPLACE FUNCTION hurry_unknown_of_run(p_run uuid) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_ids   uuid[] := ARRAY(SELECT m.operation_id FROM run_movements m
                             WHERE m.run_id = p_run AND m.operation_id IS NOT NULL AND m.status <> 'pending');
    v_count integer;
BEGIN
    UPDATE payment_operations p SET next_attempt_at = least(p.next_attempt_at, booking_now())
     WHERE p.operation_id IN (
           SELECT d.operation_id FROM payment_operations d
            WHERE d.operation_id = ANY (v_ids) AND d.status NOT IN ('SUCCEEDED', 'DECLINED') AND d.kind <> 'sale'
              AND NOT d.void_requested AND NOT d.at_till FOR NO KEY UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- Match what was read, once, and hurry what has no answer here. Done twice it is the same.
CREATE OR REPLACE FUNCTION match_run(p_run uuid, OUT matched integer, OUT hurried integer) LANGUAGE plpgsql
SET enable_nestloop = off AS $$
BEGIN
    UPDATE run_movements m SET operation_id = f.operation_id
      FROM matched_movements(p_run) f
     WHERE m.run_id = p_run AND m.number = f.number AND m.operation_id IS DISTINCT FROM f.operation_id;
    matched := matched_of_run(p_run);
    hurried := hurry_unknown_of_run(p_run);
END $$;
