-- Admission through the waiting room (R18): which events ask for it, whose tokens are believed, and who is in.

-- Off by default: an event without a waiting room sells as before.
ALTER TABLE events ADD COLUMN admission boolean NOT NULL DEFAULT false;

-- Public keys of the room (Ed25519). The room leaves them here; one that it no longer publishes is retired.
CREATE TABLE admission_keys (
    key_id     text NOT NULL,
    public_key bytea NOT NULL,
    added_at   timestamptz NOT NULL,
    retired_at timestamptz,
    CONSTRAINT admission_keys_pk PRIMARY KEY (key_id),
    CONSTRAINT admission_key_is_ed25519 CHECK (octet_length(public_key) = 32)
);

-- Whom the room has let in: one slot and one session of an account at a time, the one of the highest generation. A purchase spends
-- the slot, and every token of it, in the transaction that confirms the order (W3).
CREATE TABLE admission_sessions (
    event_id        integer NOT NULL,
    principal       text NOT NULL,
    slot_id         uuid NOT NULL,
    session         text NOT NULL,
    generation      bigint NOT NULL,
    slot_ends_at    timestamptz NOT NULL,
    single_purchase boolean NOT NULL,
    entered_at      timestamptz NOT NULL,
    spent_at        timestamptz,
    CONSTRAINT admission_sessions_pk PRIMARY KEY (event_id, principal),
    CONSTRAINT admission_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT admission_spent_once CHECK (spent_at IS NULL OR single_purchase)
);
CREATE INDEX admission_sessions_spent ON admission_sessions (spent_at) WHERE spent_at IS NOT NULL;
