-- A terminal's end of day (ZVT 06 50) against what we have of its till. A sale counts for the first end of day after it was
-- opened: the terminal was spoken to after that, and does nothing else meanwhile. What went back at the terminal counts for the
-- end of day after it went back.

-- What we have of a till's terminal between two ends of day.
CREATE OR REPLACE FUNCTION sold_at_terminal(p_device uuid, p_provider text, p_currency text, p_from timestamptz, p_to timestamptz)
RETURNS bigint LANGUAGE sql STABLE AS $$
    WITH sales AS MATERIALIZED (
        SELECT s.operation_id, s.order_id, s.amount_minor, s.created_at FROM payment_operations s
         WHERE s.kind = 'sale' AND s.device_id = p_device AND s.created_at <= p_to
           AND s.created_at > p_from - interval '8 days'
           AND s.provider = p_provider AND s.currency = p_currency AND s.status = 'SUCCEEDED')
    SELECT (coalesce((SELECT sum(s.amount_minor) FROM sales s WHERE s.created_at > p_from), 0)
            - coalesce((SELECT sum(b.amount_minor)
                          FROM sales s
                          JOIN payment_operations b ON b.order_id = s.order_id AND b.parent_id = s.operation_id
                         WHERE b.kind IN ('void', 'refund') AND b.status = 'SUCCEEDED' AND b.provider = p_provider
                           AND b.created_at > p_from AND b.created_at <= p_to), 0))::bigint
$$;

-- What the terminal has more than we; negative: less.
CREATE OR REPLACE FUNCTION terminal_difference(p_totals uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT t.total_minor - sold_at_terminal(t.device_id, t.provider, t.currency, t.opened_at, t.closed_at)
      FROM terminal_totals t WHERE t.totals_id = p_totals
$$;

CREATE OR REPLACE FUNCTION detail_of_totals(p_totals terminal_totals) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('totals_id', p_totals.totals_id, 'terminal_id', p_totals.terminal_id,
                              'device_id', p_totals.device_id, 'closed_at', p_totals.closed_at,
                              'there_minor', p_totals.total_minor,
                              'here_minor', p_totals.total_minor - terminal_difference(p_totals.totals_id))
$$;

-- Keep an end of day; an item when it does not add up. Told twice it is kept once. p_now bounds what a till's clock may say.
CREATE OR REPLACE FUNCTION report_terminal_totals(
    p_principal text, p_staff uuid, p_device uuid, p_totals uuid, p_item uuid, p_terminal text, p_provider text,
    p_closed_at timestamptz, p_currency text, p_total bigint, p_lines jsonb, p_first bigint, p_last bigint,
    p_evidence jsonb, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'terminal-totals', p_key, p_digest, p_device);
    v_now    timestamptz := booking_now();
    v_kept   terminal_totals;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    ELSIF p_closed_at > v_now + interval '5 min' OR p_closed_at < v_now - interval '8 days' THEN
        RETURN refused('invalid-request', '/closed_at');
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('terminal-totals ' || p_device, 0));
    SELECT * INTO v_kept FROM terminal_totals t
     WHERE t.device_id = p_device AND t.provider = p_provider AND t.terminal_id = p_terminal
       AND t.currency = p_currency AND t.closed_at = p_closed_at;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM terminal_totals t WHERE t.device_id = p_device AND t.provider = p_provider
                      AND t.currency = p_currency AND t.closed_at >= p_closed_at) THEN
            RETURN refused('invalid-request', '/closed_at');
        END IF;
        INSERT INTO terminal_totals (totals_id, terminal_id, provider, device_id, opened_at, closed_at, currency,
                                     total_minor, totals, first_receipt, last_receipt, evidence, staff_id, reported_at)
        VALUES (p_totals, p_terminal, p_provider, p_device,
                coalesce((SELECT max(t.closed_at) FROM terminal_totals t
                           WHERE t.device_id = p_device AND t.provider = p_provider AND t.currency = p_currency),
                         p_closed_at - interval '8 days'),
                p_closed_at, p_currency, p_total, p_lines, p_first, p_last, p_evidence, p_staff, v_now)
        RETURNING * INTO v_kept;
        IF terminal_difference(p_totals) <> 0 THEN
            PERFORM open_item_about(p_item, 'terminal-total-differs', 'totals:' || p_totals, NULL, NULL, NULL, p_provider,
                                    abs(terminal_difference(p_totals)), p_currency, detail_of_totals(v_kept), v_now);
        END IF;
    END IF;
    PERFORM spend_key(p_principal, 'terminal-totals', p_key, p_digest, p_device, v_kept.totals_id, v_now);
    RETURN done(v_kept.totals_id);
END $$;
