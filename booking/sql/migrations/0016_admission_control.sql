-- Who is let in, and how fast (R20): where rooms are, what operators set, what the controller remembers, and the log.

-- Rooms make themselves known: where fans and the controller reach them. Whoever may write here has the database's keys.
CREATE TABLE admission_rooms (
    event_id     integer NOT NULL,
    url          text NOT NULL,
    announced_at timestamptz NOT NULL,
    CONSTRAINT admission_rooms_pk PRIMARY KEY (event_id),
    CONSTRAINT room_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT room_has_an_address CHECK (url ~ '^https?://[^/]+$')
);

-- What operators set for an event; an event without a row is looked at and not steered. `targets`: where each figure presses
-- with a strain of 1, those that are not the law's own.
CREATE TABLE admission_settings (
    event_id           integer NOT NULL,
    version            integer NOT NULL,
    mode               text NOT NULL,
    mode_before_pause  text NOT NULL,
    cap_per_minute     integer NOT NULL,
    manual_per_minute  integer NOT NULL,
    least_per_minute   integer NOT NULL,
    total_active_users integer NOT NULL,
    targets            jsonb NOT NULL DEFAULT '{}',
    changed_at         timestamptz NOT NULL,
    changed_by         text NOT NULL,
    CONSTRAINT admission_settings_pk PRIMARY KEY (event_id),
    CONSTRAINT admission_set_for_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT admission_mode_known CHECK (mode IN ('automatic', 'manual', 'paused')),
    CONSTRAINT admission_resumes_to_a_mode CHECK (mode_before_pause IN ('automatic', 'manual')),
    CONSTRAINT admission_rates_within_the_cap CHECK (
        cap_per_minute BETWEEN 0 AND 600000 AND manual_per_minute BETWEEN 0 AND cap_per_minute
        AND least_per_minute BETWEEN 0 AND cap_per_minute),
    CONSTRAINT admission_has_slots CHECK (total_active_users BETWEEN 1 AND 1000000),
    CONSTRAINT admission_targets_are_an_object CHECK (jsonb_typeof(targets) = 'object')
);

-- What the controller knows of an event, written once a second by the one that leads: the rate that the room is told, the
-- law's memory, what it saw last. A controller that is started anew goes on from here.
CREATE TABLE admission_states (
    event_id    integer NOT NULL,
    per_minute  double precision NOT NULL,
    law         jsonb NOT NULL,
    reason      text NOT NULL,
    words       text NOT NULL,
    decided_at  timestamptz NOT NULL,
    measured_at timestamptz NOT NULL,
    figures     jsonb NOT NULL,
    room        jsonb NOT NULL,
    CONSTRAINT admission_states_pk PRIMARY KEY (event_id),
    CONSTRAINT admission_state_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT admission_rate_not_negative CHECK (per_minute >= 0)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05);

-- The log: who, when, from, to, why, with the figures that it rests on. Rates are new users per minute.
CREATE TABLE admission_changes (
    event_id        integer NOT NULL,
    change_no       integer NOT NULL,
    at              timestamptz NOT NULL,
    principal       text NOT NULL,
    by_name         text NOT NULL DEFAULT '',
    mode            text NOT NULL,
    from_per_minute double precision NOT NULL,
    to_per_minute   double precision NOT NULL,
    reason          text NOT NULL,
    words           text NOT NULL,
    numbers         jsonb NOT NULL,
    CONSTRAINT admission_changes_pk PRIMARY KEY (event_id, change_no)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON admission_changes
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Of all controllers one acts: the one that has this row, as long as it renews it.
CREATE TABLE admission_leader (
    one_row    boolean NOT NULL DEFAULT true,
    holder     uuid NOT NULL,
    held_until timestamptz NOT NULL,
    CONSTRAINT admission_leader_pk PRIMARY KEY (one_row),
    CONSTRAINT one_leader CHECK (one_row)
);

-- Whose purchase spent a slot, and which slots and sessions an account had before: a token can be checked against them for ever.
ALTER TABLE admission_sessions ADD COLUMN spent_by uuid;
CREATE INDEX admission_sessions_end ON admission_sessions (event_id, slot_ends_at);
CREATE TABLE admission_past (
    event_id    integer NOT NULL,
    principal   text NOT NULL,
    generation  bigint NOT NULL,
    slot_id     uuid NOT NULL,
    entered_at  timestamptz NOT NULL,
    spent_at    timestamptz,
    spent_by    uuid,
    CONSTRAINT admission_past_pk PRIMARY KEY (event_id, principal, generation)
);
CREATE FUNCTION keep_admission() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO admission_past (event_id, principal, generation, slot_id, entered_at, spent_at, spent_by)
    VALUES (OLD.event_id, OLD.principal, OLD.generation, OLD.slot_id, OLD.entered_at, OLD.spent_at, OLD.spent_by);
    RETURN NULL;
END $$;
CREATE TRIGGER keep_admission AFTER UPDATE ON admission_sessions FOR EACH ROW
    WHEN (OLD.generation IS DISTINCT FROM NEW.generation OR OLD.slot_id IS DISTINCT FROM NEW.slot_id)
    EXECUTE FUNCTION keep_admission();
