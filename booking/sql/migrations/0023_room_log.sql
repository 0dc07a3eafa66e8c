-- What people have changed in a waiting room: the room keeps its own log, and leaves it here under the numbers that it gave. `event_id` 0:
-- all its rooms. `at` is the room's own time, `heard_at` booking's.
CREATE TABLE room_changes (
    entry_id  uuid NOT NULL,
    event_id  integer NOT NULL,
    at        timestamptz NOT NULL,
    heard_at  timestamptz NOT NULL,
    principal text NOT NULL,
    what      text NOT NULL,
    was       jsonb NOT NULL,
    now       jsonb NOT NULL,
    reason    text NOT NULL,
    CONSTRAINT room_changes_pk PRIMARY KEY (entry_id)
);
CREATE INDEX room_changes_by_time ON room_changes (at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON room_changes
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
