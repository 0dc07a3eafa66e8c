"""The tables of the journal, and how an older journal becomes one of today."""

from __future__ import annotations

SCHEMA_VERSION = 4

SCHEMA = """
BEGIN;
CREATE TABLE journal (journal_id TEXT NOT NULL);
CREATE TABLE sales (
    sale_id TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    ended INTEGER NOT NULL CHECK (ended IN (0, 1)),
    updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE terminal_attempts (
    operation_id TEXT PRIMARY KEY,
    sale_id TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    started_at TEXT NOT NULL,
    last_trace INTEGER,
    report BLOB,
    trace INTEGER,
    receipt_no INTEGER,
    final INTEGER NOT NULL DEFAULT 0 CHECK (final IN (0, 1)),
    reversal TEXT NOT NULL DEFAULT 'none' CHECK (reversal IN ('none', 'asked', 'done', 'unclear')),
    acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1))
) WITHOUT ROWID;
CREATE TABLE known_trace (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), trace INTEGER NOT NULL);
INSERT INTO journal (journal_id) VALUES (:journal_id);
PRAGMA user_version = 1;
COMMIT;
"""

UPGRADES = {
    1: """
BEGIN;
ALTER TABLE terminal_attempts ADD COLUMN asked TEXT NOT NULL DEFAULT 'sale'
    CHECK (asked IN ('sale', 'reversal', 'refund'));
ALTER TABLE terminal_attempts ADD COLUMN order_id TEXT;
ALTER TABLE terminal_attempts ADD COLUMN target_receipt INTEGER;
ALTER TABLE terminal_attempts ADD COLUMN target_trace INTEGER;
CREATE TABLE terminal_days (
    day_id TEXT PRIMARY KEY,
    asked_at TEXT NOT NULL,
    report BLOB,
    reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),
    given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0, 1))
) WITHOUT ROWID;
PRAGMA user_version = 2;
COMMIT;
""",
    2: """
BEGIN;
ALTER TABLE terminal_attempts ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE terminal_attempts SET seq = placed.place FROM (
    SELECT operation_id, row_number() OVER (ORDER BY started_at, operation_id) AS place FROM terminal_attempts
) AS placed WHERE placed.operation_id = terminal_attempts.operation_id;
CREATE UNIQUE INDEX terminal_attempts_by_seq ON terminal_attempts (seq);
CREATE TABLE cash_returns (
    operation_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    paid_at TEXT NOT NULL,
    told TEXT NOT NULL DEFAULT 'no' CHECK (told IN ('no', 'taken', 'refused'))
) WITHOUT ROWID;
CREATE TABLE orders_let_go (order_id TEXT PRIMARY KEY) WITHOUT ROWID;
PRAGMA user_version = 3;
COMMIT;
""",
    3: """
BEGIN;
ALTER TABLE cash_returns ADD COLUMN order_number TEXT NOT NULL DEFAULT '';
ALTER TABLE cash_returns ADD COLUMN compared_by TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 4;
COMMIT;
""",
}
"""From each version to the next. A journal in use is upgraded as a whole or not at all."""
