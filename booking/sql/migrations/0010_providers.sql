-- Payment providers: what they tell by themselves, which of them takes the money of a channel, and whose card reader is whose
-- (R24, R26).

-- Events of providers. RECEIVED: stored, to be applied; PARKED: what it is about is not here yet; APPLIED and IGNORED (nothing
-- that we act on) are done; STRAY: nothing of ours, after days of waiting. `body` has the facts that were read, redacted.
ALTER TABLE provider_events
    ADD COLUMN state           text NOT NULL DEFAULT 'received',
    ADD COLUMN operation_id    uuid,
    ADD COLUMN applied_at      timestamptz,
    ADD COLUMN attempts        integer NOT NULL DEFAULT 0,
    ADD COLUMN next_attempt_at timestamptz,
    ADD CONSTRAINT provider_event_state_known CHECK (state IN ('received', 'parked', 'applied', 'ignored', 'stray')),
    ADD CONSTRAINT provider_event_done_once
        CHECK ((state IN ('received', 'parked')) = (next_attempt_at IS NOT NULL) AND (state = 'applied') = (applied_at IS NOT NULL)),
    ADD CONSTRAINT provider_event_of_operation FOREIGN KEY (operation_id) REFERENCES payment_operations;
CREATE INDEX provider_events_due ON provider_events (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- What a provider did by hand names the charge alone.
CREATE INDEX charges_of_reference ON payment_operations (provider_ref)
    WHERE provider_ref <> '' AND kind IN ('authorize', 'sale');

-- Which providers may authorize for a channel, the first one by default; event_id NULL: every event that has no row of its own.
-- A channel without a row takes what is asked for.
CREATE TABLE channel_providers (
    event_id   integer,
    channel    text NOT NULL,
    providers  text[] NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    CONSTRAINT channel_providers_once UNIQUE NULLS NOT DISTINCT (event_id, channel),
    CONSTRAINT channel_providers_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT channel_known CHECK (channel IN ('till', 'online')),
    CONSTRAINT channel_has_providers CHECK (cardinality(providers) BETWEEN 1 AND 8)
);

-- The card reader that a provider drives for a till. One reader, one till.
CREATE TABLE device_readers (
    device_id  uuid NOT NULL,
    provider   text NOT NULL,
    reader_ref text NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    CONSTRAINT device_readers_pk PRIMARY KEY (device_id),
    CONSTRAINT reader_of_device FOREIGN KEY (device_id) REFERENCES devices,
    CONSTRAINT reader_of_one_till UNIQUE (provider, reader_ref)
);
