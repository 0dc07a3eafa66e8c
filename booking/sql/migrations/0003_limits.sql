-- Limits to their full depth: access codes, cards, general-admission places in holds, the cap of seats being paid (R7, R8).

ALTER TABLE events
    ADD COLUMN max_per_card      integer NOT NULL DEFAULT 6,
    ADD COLUMN settings_version  integer NOT NULL DEFAULT 1,
    ADD COLUMN orphan_rule       text    NOT NULL DEFAULT 'off',
    ADD COLUMN min_time_to_pay_s integer NOT NULL DEFAULT 10,
    ADD CONSTRAINT max_per_card_bounded CHECK (max_per_card BETWEEN 1 AND 10000),
    ADD CONSTRAINT settings_version_positive CHECK (settings_version > 0),
    ADD CONSTRAINT orphan_rule_known CHECK (orphan_rule IN ('strict', 'lenient', 'off')),
    ADD CONSTRAINT min_time_to_pay_bounded CHECK (min_time_to_pay_s BETWEEN 0 AND 300);

-- `places` are a hold's general-admission places; limits count them like seats. `paying_slot` says in which part of the
-- event's cap a hold that is being paid is counted (claim_paying_slot); it means nothing in another status.
ALTER TABLE holds
    ADD COLUMN places      integer  NOT NULL DEFAULT 0,
    ADD COLUMN paying_slot smallint NOT NULL DEFAULT 0,
    DROP CONSTRAINT hold_takes_1_to_6,
    ADD CONSTRAINT hold_takes_1_to_6 CHECK (places >= 0 AND cardinality(seats) + places BETWEEN 1 AND 6),
    ADD CONSTRAINT hold_paying_slot_known CHECK (paying_slot BETWEEN 0 AND 15);
DROP INDEX holds_paying;
CREATE INDEX holds_paying ON holds (event_id, paying_slot) WHERE status = 'PAYMENT_PENDING';

-- What an access code has raised this account's limit to; 0 when none has. Beside `sold`, so that limits need one row.
ALTER TABLE account_limits
    ADD COLUMN raised_to integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT raised_to_not_negative CHECK (raised_to >= 0);

-- A code in lower case raises the limit of each account that uses it (B17). `uses` is counted where it is limited.
CREATE TABLE access_codes (
    access_code_id  uuid NOT NULL,
    event_id        integer NOT NULL,
    code            text NOT NULL,
    max_per_account integer NOT NULL,
    uses            integer NOT NULL DEFAULT 0,
    max_uses        integer,
    valid_until     timestamptz,
    created_at      timestamptz NOT NULL,
    CONSTRAINT access_codes_pk PRIMARY KEY (event_id, code),
    CONSTRAINT access_code_id_once UNIQUE (access_code_id),
    CONSTRAINT access_code_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT access_code_folded CHECK (code = lower(code) AND length(code) BETWEEN 4 AND 60),
    CONSTRAINT access_code_raises CHECK (max_per_account BETWEEN 1 AND 10000),
    CONSTRAINT access_code_uses_bounded CHECK (uses >= 0 AND (max_uses IS NULL OR uses <= max_uses))
) WITH (fillfactor = 50);

-- Once for each account: the second hold with the same code spends nothing.
CREATE TABLE access_code_uses (
    event_id        integer NOT NULL,
    principal       text NOT NULL,
    code            text NOT NULL,
    max_per_account integer NOT NULL,
    used_at         timestamptz NOT NULL,
    CONSTRAINT access_code_used_once PRIMARY KEY (event_id, principal, code),
    CONSTRAINT access_code_use_of_code FOREIGN KEY (event_id, code) REFERENCES access_codes
);
CREATE INDEX access_code_uses_of_code ON access_code_uses (event_id, code);

-- Valid tickets of an event that a card has paid; its row serialises the confirmations of that card.
CREATE TABLE card_limits (
    event_id    integer NOT NULL,
    fingerprint text NOT NULL,
    sold        integer NOT NULL DEFAULT 0,
    CONSTRAINT card_limits_pk PRIMARY KEY (event_id, fingerprint),
    CONSTRAINT card_named CHECK (fingerprint <> ''),
    CONSTRAINT card_sold_not_negative CHECK (sold >= 0)
) WITH (fillfactor = 70);
