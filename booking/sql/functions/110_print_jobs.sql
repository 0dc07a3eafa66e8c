-- Print jobs: what was sent to a printer and what became of it. A job that is UNKNOWN is never sent again by itself (R31).

CREATE OR REPLACE FUNCTION open_print_job(
    p_principal text, p_all boolean, p_order uuid, p_job uuid, p_tickets uuid[], p_printer text, p_device uuid,
    p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_begun record;
    v_now   timestamptz;
BEGIN
    SELECT * INTO v_begun
      FROM begin_order_act(p_principal, p_all, 'print-jobs', p_order, 'order', p_key, p_digest);
    IF (v_begun.answer).code IS NOT NULL THEN
        RETURN v_begun.answer;
    ELSIF cardinality(p_tickets) <> (SELECT count(*) FROM tickets t WHERE t.ticket_id = ANY (p_tickets)
            AND t.order_id = p_order AND t.status <> 'VOID' AND NOT is_refund_pending(t)) THEN
        RETURN refused('ticket-not-found');
    END IF;
    v_now := booking_now();
    INSERT INTO print_jobs (print_job_id, order_id, ticket_ids, principal, device_id, printer, created_at, updated_at)
    VALUES (p_job, p_order, p_tickets, p_principal, p_device, p_printer, v_now, v_now);
    PERFORM spend_key(p_principal, 'print-jobs', p_key, p_digest, p_order, p_job, v_now);
    RETURN done(p_job);
END $$;

-- What became of a job. The same again is a repeat. CONFIRMED marks the tickets and their seats printed.
CREATE OR REPLACE FUNCTION report_print_job(
    p_principal text, p_all boolean, p_job uuid, p_status text, p_detail text,
    p_key text DEFAULT NULL, p_digest bytea DEFAULT NULL
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_answer sale_answer := seen_key(p_principal, 'print-reports', p_key, p_digest, p_job);
    v_job    print_jobs;
    v_order  orders;
    v_seats  integer[];
    v_now    timestamptz;
BEGIN
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT * INTO v_job FROM print_jobs j WHERE j.print_job_id = p_job;
    IF NOT FOUND OR NOT (p_all OR v_job.principal = p_principal) THEN
        RETURN refused('print-job-not-found');
    END IF;
    SELECT * INTO v_order FROM orders o WHERE o.order_id = v_job.order_id;
    v_seats := ARRAY(SELECT t.seat_no FROM tickets t WHERE t.ticket_id = ANY (v_job.ticket_ids) AND t.status <> 'VOID'
                        AND t.seat_no IS NOT NULL);
    PERFORM lock_seats(v_order.event_id, v_seats);
    SELECT * INTO v_job FROM print_jobs j WHERE j.print_job_id = p_job FOR NO KEY UPDATE;
    v_answer := seen_key(p_principal, 'print-reports', p_key, p_digest, p_job);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    v_now := booking_now();
    IF v_job.status = p_status THEN
        PERFORM spend_key(p_principal, 'print-reports', p_key, p_digest, p_job, p_job, v_now);
        RETURN ROW ('', p_job, true, '', NULL)::sale_answer;
    ELSIF NOT (v_job.status IN ('QUEUED', 'SENT') AND p_status IN ('SENT', 'CONFIRMED', 'UNKNOWN', 'FAILED')
            OR v_job.status = 'UNKNOWN' AND p_status IN ('CONFIRMED', 'FAILED')) THEN
        RETURN refused('print-job-conflict', v_job.status);
    END IF;
    UPDATE print_jobs j SET status = p_status, detail = p_detail, updated_at = v_now WHERE j.print_job_id = p_job;
    IF p_status = 'CONFIRMED' THEN
        UPDATE seats s SET printed = true, version = s.version + 1
         WHERE s.event_id = v_order.event_id AND s.seat_no = ANY (v_seats)
           AND s.status = 3 AND s.order_id = v_job.order_id AND NOT s.printed;
        UPDATE tickets t SET status = CASE t.status WHEN 'ISSUED' THEN 'PRINTED' ELSE t.status END, printed_at = v_now
         WHERE t.ticket_id = ANY (v_job.ticket_ids) AND t.status IN ('ISSUED', 'PRINTED', 'USED');
        PERFORM announce_seats(v_order.event_id, 'seats-printed', v_job.order_id, v_seats, NULL, v_now);
    END IF;
    PERFORM spend_key(p_principal, 'print-reports', p_key, p_digest, p_job, p_job, v_now);
    RETURN done(p_job);
END $$;
