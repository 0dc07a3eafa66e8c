-- Who waits for whom (R32). Asked only when somebody waits: pg_blocking_pids takes all lock partitions, so it is called for those
-- who wait and for no more than p_most of them.

-- Sessions that a role of ours may end: those of our own role, and of roles that were granted to it. A superuser is no exception.
CREATE OR REPLACE FUNCTION is_own_role(p_role oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = current_user AND r.oid = p_role)
        OR EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
                    WHERE r.rolname = current_user AND m.roleid = p_role)
$$;

-- Which seat a session waits for: the row that it has its turn for (a tuple lock of `seats`), by its place in the table. NULL when
-- it waits for something else, or the row has moved meanwhile.
CREATE OR REPLACE FUNCTION seats_waited_for(p_pid integer) RETURNS TABLE (event_id integer, seat_no integer)
LANGUAGE sql STABLE AS $$
    SELECT s.event_id, s.seat_no
      FROM pg_locks l
      JOIN seats s ON s.ctid = ('(' || l.page || ',' || l.tuple || ')')::tid
     WHERE l.pid = p_pid AND l.locktype = 'tuple' AND l.relation = 'seats'::regclass
       AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
$$;

-- One row for each waiting session of this database, the longest first; `query` is for the kind of statement alone. What keeps
-- `seats` locked is told by section.
CREATE OR REPLACE FUNCTION lock_waits(p_most integer) RETURNS TABLE (
    total bigint, pid integer, backend_start timestamptz, application text, state text, query text,
    xact_start timestamptz, is_own boolean, since timestamptz, waited_s double precision, lock text, blocked_by integer[],
    event_id integer, sections text[]
) LANGUAGE sql VOLATILE AS $$
    WITH waiting AS MATERIALIZED (
        SELECT l.pid, l.locktype, l.relation, l.waitstart, a.backend_start, a.application_name, a.state, a.query,
               a.xact_start, a.usesysid, coalesce(l.waitstart, a.query_start, clock_timestamp()) AS since,
               count(*) OVER () AS total
          FROM pg_locks l
          JOIN pg_stat_activity a USING (pid)
         WHERE NOT l.granted AND a.datname = current_database()
         ORDER BY coalesce(l.waitstart, a.query_start, clock_timestamp())
         LIMIT p_most)
    SELECT w.total, w.pid, w.backend_start, w.application_name, w.state, w.query, w.xact_start, is_own_role(w.usesysid),
           w.since, extract(epoch FROM clock_timestamp() - w.since)::float8,
           CASE WHEN w.locktype IN ('relation', 'extend') THEN 'table ' || w.relation::regclass
                ELSE coalesce((SELECT 'row of ' || t.relation::regclass FROM pg_locks t
                                WHERE t.pid = w.pid AND t.locktype = 'tuple' LIMIT 1), w.locktype) END,
           pg_blocking_pids(w.pid), s.event_id, s.sections
      FROM waiting w
      LEFT JOIN LATERAL (
        SELECT min(f.event_id) AS event_id,
               array_agg(DISTINCT p.section ORDER BY p.section) FILTER (WHERE p.section IS NOT NULL) AS sections
          FROM seats_waited_for(w.pid) f
          JOIN events e ON e.event_id = f.event_id
          LEFT JOIN plan_seats p ON p.plan_id = e.plan_id AND p.version = e.plan_version AND p.seat_no = f.seat_no) s
        ON true
     ORDER BY w.since
$$;

-- Sessions by their number, those that block others.
CREATE OR REPLACE FUNCTION sessions_of(p_pids integer[]) RETURNS TABLE (
    pid integer, backend_start timestamptz, application text, state text, query text, xact_start timestamptz,
    is_own boolean
) LANGUAGE sql VOLATILE AS $$
    SELECT a.pid, a.backend_start, a.application_name, coalesce(a.state, a.backend_type), a.query, a.xact_start,
           a.backend_type = 'client backend' AND a.datname = current_database() AND is_own_role(a.usesysid)
      FROM pg_stat_activity a WHERE a.pid = ANY (p_pids)
$$;

-- Ask for the end of a session, by its number and the instant at which it began: a number that was given to another session since
-- means nothing. So does, where it is named, a transaction that has ended since: a session of a pool serves somebody else by now.
-- Audited here, in a transaction that commits before anything is ended. `detail` is what was found: 'found', or 'gone'. A session
-- of another role, or no client's, is refused.
DROP FUNCTION IF EXISTS ask_for_session_end(text, uuid, integer, timestamptz, text, text, text, bytea);
CREATE OR REPLACE FUNCTION ask_for_session_end(
    p_principal text, p_staff uuid, p_pid integer, p_began timestamptz, p_transaction timestamptz, p_statement text,
    p_reason text, p_key text, p_digest bytea
) RETURNS sale_answer LANGUAGE plpgsql AS $$
DECLARE
    v_subject CONSTANT uuid := md5(p_pid || ' ' || extract(epoch FROM p_began))::uuid;
    v_session record;
    v_answer  sale_answer;
    v_now     timestamptz := booking_now();
BEGIN
    v_answer := seen_key(p_principal, 'session-end', p_key, p_digest, v_subject);
    IF v_answer.code IS NOT NULL THEN
        RETURN v_answer;
    END IF;
    SELECT s.* INTO v_session FROM sessions_of(ARRAY[p_pid]) s
     WHERE s.backend_start = p_began AND (p_transaction IS NULL OR s.xact_start = p_transaction);
    IF NOT FOUND THEN
        RETURN ROW ('', v_subject, false, 'gone', NULL)::sale_answer;
    ELSIF NOT v_session.is_own OR p_pid = pg_backend_pid() THEN
        RETURN refused('forbidden', 'session');
    END IF;
    PERFORM note_change(p_principal, 'session-end-asked', 'session:' || p_pid, p_reason, jsonb_build_object(
        'staff_id', p_staff, 'pid', p_pid, 'backend_started_at', p_began, 'application', v_session.application,
        'from', jsonb_build_object('state', v_session.state, 'statement', p_statement,
                                   'transaction_started_at', v_session.xact_start),
        'to', jsonb_build_object('state', 'ended')), v_now);
    PERFORM spend_key(p_principal, 'session-end', p_key, p_digest, v_subject, v_subject, v_now);
    RETURN ROW ('', v_subject, false, 'found', NULL)::sale_answer;
END $$;

-- End a session of ours, and wait for it: 'ended', 'ending' when it is not gone after p_wait_ms, 'gone' when there is none.
DROP FUNCTION IF EXISTS end_session(integer, timestamptz, integer);
CREATE OR REPLACE FUNCTION end_session(
    p_pid integer, p_began timestamptz, p_transaction timestamptz, p_wait_ms integer
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_ended boolean;
BEGIN
    SELECT pg_terminate_backend(s.pid, p_wait_ms) INTO v_ended
      FROM sessions_of(ARRAY[p_pid]) s
     WHERE s.backend_start = p_began AND s.is_own AND s.pid <> pg_backend_pid()
       AND (p_transaction IS NULL OR s.xact_start = p_transaction);
    RETURN CASE WHEN v_ended IS NULL THEN 'gone' WHEN v_ended THEN 'ended' ELSE 'ending' END;
END $$;
