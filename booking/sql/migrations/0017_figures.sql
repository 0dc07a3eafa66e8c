-- Figures of the whole system (R32, R42): each process leaves its own part once a second, one of them adds everything up. What is a
-- second old is worth nothing after a crash: those tables are not logged, so a report costs no write to disk and no sync.

CREATE UNLOGGED TABLE process_figures (
    process_id uuid NOT NULL,
    kind       text NOT NULL,
    heard_at   timestamptz NOT NULL,
    body       bytea NOT NULL,
    CONSTRAINT process_figures_pk PRIMARY KEY (process_id),
    CONSTRAINT process_kind_known CHECK (kind IN ('api', 'worker', 'room'))
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05);

-- Whose turn it is to add up: until then, or until it says so again.
CREATE UNLOGGED TABLE figures_watch (
    only_row   boolean NOT NULL DEFAULT true,
    watcher    uuid NOT NULL,
    lease_ends timestamptz NOT NULL,
    CONSTRAINT figures_watch_pk PRIMARY KEY (only_row),
    CONSTRAINT figures_watch_is_one_row CHECK (only_row)
) WITH (fillfactor = 10);

-- The last quarter of an hour, second by second.
CREATE UNLOGGED TABLE figures_seconds (
    second      bigint NOT NULL,
    measured_at timestamptz NOT NULL,
    body        bytea NOT NULL,
    CONSTRAINT figures_seconds_pk PRIMARY KEY (second)
);

-- Each minute of an event, kept with it; event 0 is the whole system.
CREATE TABLE figures_minutes (
    event_id integer NOT NULL,
    minute   timestamptz NOT NULL,
    body     bytea NOT NULL,
    CONSTRAINT figures_minutes_pk PRIMARY KEY (event_id, minute),
    CONSTRAINT minute_is_whole CHECK (date_trunc('minute', minute, 'UTC') = minute)
);

-- What operators have set otherwise than the program does; a rule without a row is as the program has it.
CREATE TABLE alarm_rules (
    rule          text NOT NULL,
    raise_at      double precision NOT NULL,
    clear_at      double precision NOT NULL,
    raise_after_s integer NOT NULL,
    clear_after_s integer NOT NULL,
    severity      text NOT NULL,
    enabled       boolean NOT NULL,
    version       integer NOT NULL,
    CONSTRAINT alarm_rules_pk PRIMARY KEY (rule),
    CONSTRAINT alarm_severity_known CHECK (severity IN ('warning', 'critical')),
    CONSTRAINT alarm_levels_not_negative CHECK (raise_at >= 0 AND clear_at >= 0),
    CONSTRAINT alarm_delays_bounded CHECK (raise_after_s BETWEEN 0 AND 3600 AND clear_after_s BETWEEN 0 AND 3600),
    CONSTRAINT alarm_rule_changed CHECK (version > 1)
);

-- Each time that a rule was broken: until when, how bad, and who has seen it.
CREATE TABLE alarms (
    alarm_id         uuid NOT NULL,
    rule             text NOT NULL,
    figure           text NOT NULL,
    severity         text NOT NULL,
    raised_at        timestamptz NOT NULL,
    value            double precision NOT NULL,
    worst            double precision NOT NULL,
    raise_at         double precision NOT NULL,
    clear_at         double precision NOT NULL,
    cleared_at       timestamptz,
    acknowledged_at  timestamptz,
    acknowledged_by  text NOT NULL DEFAULT '',
    note             text NOT NULL DEFAULT '',
    CONSTRAINT alarms_pk PRIMARY KEY (alarm_id),
    CONSTRAINT alarm_severity_known CHECK (severity IN ('warning', 'critical')),
    CONSTRAINT alarm_acknowledged_by_somebody CHECK ((acknowledged_at IS NULL) = (acknowledged_by = ''))
);
CREATE UNIQUE INDEX alarm_open_once ON alarms (rule) WHERE cleared_at IS NULL;
CREATE INDEX alarms_by_time ON alarms (raised_at);

-- Charges that have no answer, wherever they were sent: few rows at any time.
CREATE INDEX operations_unanswered ON payment_operations (created_at) WHERE status IN ('SENT', 'UNKNOWN');

-- The log of what operators, the controller and the alarms did, newest first.
CREATE INDEX audit_log_of_operations ON audit_log (at)
    WHERE action LIKE 'alarm-%' OR action LIKE 'admission-%' OR action LIKE 'session-%' OR action LIKE 'authority-%'
       OR action IN ('settings-changed', 'event-status-changed', 'plan-changed', 'tier-changed', 'access-code-set',
                     'reconciliation-settings-changed', 'channel-providers-changed', 'device-reader-changed');
CREATE INDEX admission_changes_by_time ON admission_changes (at);
