-- What only a person can settle (R27, R33): items with their money, second persons, comparisons with providers and terminals.

-- `subject` tells two items of one kind apart that are about one operation, or about none of ours: what the provider calls
-- the movement, a terminal's end of day, an order. `version` rises with every change. `reference` is where it was settled.
ALTER TABLE reconciliation_items
    ADD COLUMN version      integer NOT NULL DEFAULT 1,
    ADD COLUMN subject      text NOT NULL DEFAULT '',
    ADD COLUMN provider     text NOT NULL DEFAULT '',
    ADD COLUMN amount_minor bigint NOT NULL DEFAULT 0,
    ADD COLUMN currency     text NOT NULL DEFAULT '',
    ADD COLUMN reference    text NOT NULL DEFAULT '';
UPDATE reconciliation_items i
   SET provider = p.provider, amount_minor = p.amount_minor, currency = p.currency
  FROM payment_operations p WHERE p.operation_id = i.operation_id;
ALTER TABLE reconciliation_items
    ADD CONSTRAINT item_resolved_by_somebody CHECK ((resolved_at IS NULL) = (resolved_by = '')) NOT VALID;

DROP INDEX item_open_once;
CREATE UNIQUE INDEX item_open_once ON reconciliation_items (operation_id, kind, subject) WHERE resolved_at IS NULL;
CREATE UNIQUE INDEX item_open_once_of_subject ON reconciliation_items (kind, subject)
    WHERE resolved_at IS NULL AND operation_id IS NULL;
CREATE INDEX items_of_subject ON reconciliation_items (subject) WHERE subject <> '';
CREATE INDEX items_by_age ON reconciliation_items (opened_at, item_id);
CREATE INDEX items_open ON reconciliation_items (opened_at, item_id) WHERE resolved_at IS NULL;
CREATE INDEX items_of_order ON reconciliation_items (order_id);
CREATE INDEX items_of_operation ON reconciliation_items (operation_id);

-- An act that waits for a second person, and what became of it. `asked_by` and `decided_by` are ids of staff: one person
-- never does both halves of an approval. An act that lost its sense meanwhile is decided by nobody (`overtaken`).
CREATE TABLE item_approvals (
    approval_id  uuid NOT NULL,
    item_id      uuid NOT NULL,
    action       text NOT NULL,
    asked_by     uuid NOT NULL,
    asked_at     timestamptz NOT NULL,
    reason       text NOT NULL,
    amount_minor bigint,
    reference    text NOT NULL DEFAULT '',
    order_id     uuid,
    outcome      text NOT NULL DEFAULT '',
    decision     text NOT NULL DEFAULT '',
    decided_by   uuid,
    decided_at   timestamptz,
    CONSTRAINT item_approvals_pk PRIMARY KEY (approval_id),
    CONSTRAINT approval_of_item FOREIGN KEY (item_id) REFERENCES reconciliation_items,
    CONSTRAINT approval_decision_known CHECK (decision IN ('', 'approved', 'refused', 'withdrawn', 'overtaken')),
    CONSTRAINT approval_decided_whole CHECK ((decision = '') = (decided_at IS NULL)
        AND (decision IN ('', 'overtaken')) = (decided_by IS NULL)),
    CONSTRAINT approval_takes_two CHECK (decision <> 'approved' OR decided_by <> asked_by)
);
CREATE UNIQUE INDEX item_waits_for_one_approval ON item_approvals (item_id) WHERE decision = '';
CREATE INDEX approvals_of_item ON item_approvals (item_id);

-- One row, once somebody has changed them; `reconciliation_terms` has them until then. An act of more than `second_person_above_minor` needs a second person (NULL: none does); `limits_by_currency`
-- maps a currency to another limit, or to null. The daily comparison of a day begins at `run_at_hour` of the next one in
-- `zone`, which is also what a day is. `unknown_after_s`: how long a provider may be silent before a person hears of it.
CREATE TABLE reconciliation_settings (
    one_row                   boolean NOT NULL DEFAULT true,
    second_person_above_minor bigint DEFAULT 50000,
    limits_by_currency        jsonb NOT NULL DEFAULT '{}',
    run_at_hour               integer NOT NULL DEFAULT 5,
    zone                      text NOT NULL DEFAULT 'UTC',
    unknown_after_s           integer NOT NULL DEFAULT 900,
    version                   integer NOT NULL DEFAULT 1,
    CONSTRAINT reconciliation_settings_pk PRIMARY KEY (one_row),
    CONSTRAINT one_row_of_settings CHECK (one_row),
    CONSTRAINT second_person_limit_not_negative CHECK (second_person_above_minor >= 0),
    CONSTRAINT limits_are_an_object CHECK (jsonb_typeof(limits_by_currency) = 'object'),
    CONSTRAINT run_hour_of_a_day CHECK (run_at_hour BETWEEN 0 AND 23),
    CONSTRAINT unknown_age_bounded CHECK (unknown_after_s BETWEEN 60 AND 86400)
);

-- One comparison of one provider's day with our ledger. Whoever drives it has a lease (`held_until`); `cursor` is where the
-- provider's list goes on, `is_read` once there is no more of it. `attempts` counts failures since the last page. The list
-- is read from `list_since` to `list_until`: what we decided within the day may have happened a little beside it.
CREATE TABLE reconciliation_runs (
    run_id       uuid NOT NULL,
    provider     text NOT NULL,
    day          date NOT NULL,
    since        timestamptz NOT NULL,
    until        timestamptz NOT NULL,
    list_since   timestamptz NOT NULL,
    list_until   timestamptz NOT NULL,
    state        text NOT NULL DEFAULT 'running',
    cursor       text NOT NULL DEFAULT '',
    is_read      boolean NOT NULL DEFAULT false,
    read         integer NOT NULL DEFAULT 0,
    expected     integer NOT NULL DEFAULT 0,
    matched      integer NOT NULL DEFAULT 0,
    differences  jsonb NOT NULL DEFAULT '{}',
    opened_items integer NOT NULL DEFAULT 0,
    started_by   text NOT NULL DEFAULT '',
    started_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    detail       text NOT NULL DEFAULT '',
    attempts     integer NOT NULL DEFAULT 0,
    holder       uuid,
    held_until   timestamptz,
    due_at       timestamptz NOT NULL,
    CONSTRAINT reconciliation_runs_pk PRIMARY KEY (run_id),
    CONSTRAINT run_state_known CHECK (state IN ('running', 'done', 'failed')),
    CONSTRAINT run_ends_once CHECK ((state = 'running') = (ended_at IS NULL)),
    CONSTRAINT run_covers_time CHECK (since < until AND list_since <= since AND list_until >= until)
);
CREATE UNIQUE INDEX run_once_at_a_time ON reconciliation_runs (provider, day) WHERE state = 'running';
CREATE UNIQUE INDEX run_once_by_itself ON reconciliation_runs (provider, day)
    WHERE started_by = 'authority' AND state <> 'failed';
CREATE INDEX runs_by_age ON reconciliation_runs (started_at, run_id);

-- What a running comparison has read so far; gone when it ends. `number` counts within the run.
CREATE TABLE run_movements (
    run_id          uuid NOT NULL,
    number          integer NOT NULL,
    provider_ref    text NOT NULL,
    movement_ref    text NOT NULL,
    idempotency_key text NOT NULL,
    kind            text NOT NULL,
    status          text NOT NULL,
    amount_minor    bigint NOT NULL,
    currency        text NOT NULL,
    at              timestamptz NOT NULL,
    CONSTRAINT run_movements_pk PRIMARY KEY (run_id, number),
    CONSTRAINT movement_of_run FOREIGN KEY (run_id) REFERENCES reconciliation_runs
);

-- A terminal's end of day, as its till reported it. What we have of it is counted from `opened_at`, the end of day before.
CREATE TABLE terminal_totals (
    totals_id     uuid NOT NULL,
    terminal_id   text NOT NULL,
    provider      text NOT NULL,
    device_id     uuid NOT NULL,
    opened_at     timestamptz NOT NULL,
    closed_at     timestamptz NOT NULL,
    currency      text NOT NULL,
    total_minor   bigint NOT NULL,
    totals        jsonb NOT NULL DEFAULT '[]',
    first_receipt bigint,
    last_receipt  bigint,
    evidence      jsonb NOT NULL DEFAULT '[]',
    staff_id      uuid,
    reported_at   timestamptz NOT NULL,
    CONSTRAINT terminal_totals_pk PRIMARY KEY (totals_id),
    CONSTRAINT terminal_closes_once UNIQUE (device_id, provider, terminal_id, currency, closed_at),
    CONSTRAINT terminal_day_covers_time CHECK (opened_at < closed_at),
    CONSTRAINT terminal_total_not_negative CHECK (total_minor >= 0)
);
-- Neither column ever changes, and only tills write such rows: sales at a terminal, found by their till.
CREATE INDEX sales_of_device ON payment_operations (device_id, created_at) WHERE kind = 'sale';

-- A capture or void that was refused may be tried again by a person; nothing else opens a second one.
DROP INDEX one_capture_one_void;
CREATE UNIQUE INDEX one_capture_one_void ON payment_operations (parent_id, kind)
    WHERE kind IN ('capture', 'void') AND status <> 'DECLINED';

-- What people did with one thing.
CREATE INDEX audit_of_subject ON audit_log (subject);
