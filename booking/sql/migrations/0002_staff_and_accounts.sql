-- Who may call: staff and their sessions, fans' accounts, the keys that sign access tokens.
-- Secrets are never stored in the clear: passwords as scrypt hashes, refresh tokens as SHA-256 digests.

CREATE TABLE staff (
    staff_id      uuid NOT NULL,
    name          text NOT NULL,
    display_name  text NOT NULL,
    role          text NOT NULL,
    password_hash text NOT NULL,
    active        boolean NOT NULL DEFAULT true,
    created_at    timestamptz NOT NULL DEFAULT booking_now(),
    CONSTRAINT staff_pk PRIMARY KEY (staff_id),
    CONSTRAINT staff_name_unique UNIQUE (name),
    CONSTRAINT staff_name_folded CHECK (name = lower(name) AND name <> ''),
    CONSTRAINT staff_role_known CHECK (role IN ('clerk', 'ops', 'supervisor', 'admin'))
);

-- The tills and other machines that staff sign in at; the id is made once by the machine itself.
CREATE TABLE devices (
    device_id     uuid NOT NULL,
    name          text NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT booking_now(),
    last_seen_at  timestamptz NOT NULL DEFAULT booking_now(),
    CONSTRAINT devices_pk PRIMARY KEY (device_id)
);

CREATE TABLE staff_sessions (
    session_id     uuid NOT NULL,
    staff_id       uuid NOT NULL,
    device_id      uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT booking_now(),
    expires_at     timestamptz NOT NULL,
    revoked_at     timestamptz,
    revoked_reason text,
    CONSTRAINT staff_sessions_pk PRIMARY KEY (session_id),
    CONSTRAINT session_of_staff FOREIGN KEY (staff_id) REFERENCES staff,
    CONSTRAINT session_on_device FOREIGN KEY (device_id) REFERENCES devices,
    CONSTRAINT session_revoked_with_reason CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
);
CREATE INDEX staff_sessions_of_staff ON staff_sessions (staff_id, device_id);

-- A refresh token is used once. Its successor is kept sealed under the token itself, so that a caller whose answer
-- was lost gets the same successor for a few seconds, and a reader of this table gets nothing.
CREATE TABLE staff_refresh_tokens (
    digest           bytea NOT NULL,
    session_id       uuid NOT NULL,
    issued_at        timestamptz NOT NULL DEFAULT booking_now(),
    used_at          timestamptz,
    successor_sealed bytea,
    successor_digest bytea,
    CONSTRAINT staff_refresh_tokens_pk PRIMARY KEY (digest),
    CONSTRAINT refresh_of_session FOREIGN KEY (session_id) REFERENCES staff_sessions ON DELETE CASCADE,
    CONSTRAINT refresh_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT refresh_used_with_successor CHECK (
        (used_at IS NULL) = (successor_sealed IS NULL) AND (used_at IS NULL) = (successor_digest IS NULL)
    )
);
CREATE INDEX staff_refresh_tokens_of_session ON staff_refresh_tokens (session_id);

-- One row for each (name, device) that failed lately; a success removes it.
CREATE TABLE login_attempts (
    name           text NOT NULL,
    device_id      uuid NOT NULL,
    failures       int NOT NULL,
    last_failed_at timestamptz NOT NULL,
    blocked_until  timestamptz,
    CONSTRAINT login_attempts_pk PRIMARY KEY (name, device_id),
    CONSTRAINT login_failures_counted CHECK (failures >= 0)
);

CREATE TABLE accounts (
    account_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT booking_now(),
    CONSTRAINT accounts_pk PRIMARY KEY (account_id)
);

-- Keys that sign access tokens. The newest signs; all that are not retired verify.
CREATE TABLE api_keys (
    key_id     uuid NOT NULL,
    purpose    text NOT NULL,
    secret     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT booking_now(),
    retired_at timestamptz,
    CONSTRAINT api_keys_pk PRIMARY KEY (key_id),
    CONSTRAINT api_key_purpose_known CHECK (purpose IN ('access-token')),
    CONSTRAINT api_key_long_enough CHECK (octet_length(secret) >= 32)
);

-- Where the seat feed's versions come from. Another system identifier or timeline means that versions may have been
-- given before which this cluster never saw, so every event's epoch rises.
CREATE TABLE feed_origin (
    only_row          boolean NOT NULL DEFAULT true,
    system_identifier text NOT NULL,
    timeline          text NOT NULL,
    CONSTRAINT feed_origin_pk PRIMARY KEY (only_row),
    CONSTRAINT feed_origin_is_one_row CHECK (only_row)
);

-- When the sequencer last had numbered all there was. No row: never. Old: changes of seats do not reach the maps, whatever else works.
CREATE TABLE feed_heartbeat (
    only_row     boolean NOT NULL DEFAULT true,
    sequenced_at timestamptz NOT NULL,
    CONSTRAINT feed_heartbeat_pk PRIMARY KEY (only_row),
    CONSTRAINT feed_heartbeat_is_one_row CHECK (only_row)
) WITH (fillfactor = 10);
