-- General admission (R11): tiers of places without numbers, what holds have of them, and the places of an order.
--
-- A tier is one counter, or several buckets whose capacities sum to the stock. A counter cannot say in a predicate that
-- a hold has expired, so who finds too little room gives back what expired holds still have, in the same transaction.

-- One row for each bucket of a tier; name and category are the same in all of them. `held` counts places of holds,
-- paying ones among them. `overbooked` is what a lowered capacity does not hold, accepted by name (B7), and falls with
-- each place that comes back: nothing goes below zero. Hot rows: no index but the key, room in each page.
CREATE TABLE ga_tiers (
    event_id    integer NOT NULL,
    tier_id     integer NOT NULL,
    bucket      integer NOT NULL DEFAULT 0,
    name        text NOT NULL,
    category_no integer NOT NULL,
    capacity    integer NOT NULL,
    overbooked  integer NOT NULL DEFAULT 0,
    held        integer NOT NULL DEFAULT 0,
    sold        integer NOT NULL DEFAULT 0,
    CONSTRAINT ga_tiers_pk PRIMARY KEY (event_id, tier_id, bucket),
    CONSTRAINT tier_of_event FOREIGN KEY (event_id) REFERENCES events,
    CONSTRAINT tier_of_category FOREIGN KEY (event_id, category_no) REFERENCES price_categories,
    CONSTRAINT tier_named CHECK (name <> ''),
    CONSTRAINT tier_numbered CHECK (tier_id BETWEEN 0 AND 1000000 AND bucket BETWEEN 0 AND 63),
    CONSTRAINT tier_counts_not_negative CHECK (capacity >= 0 AND overbooked >= 0 AND held >= 0 AND sold >= 0),
    CONSTRAINT tier_never_oversold CHECK (held + sold <= capacity + overbooked)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- What a hold has of a bucket. status: 0 given back, 1 held, 2 being paid, 3 sold. Whoever changes `held` or `sold` has
-- the bucket's lock; checkout alone changes rows here under their own locks, because the counts stay as they are.
-- No foreign keys: they cost a quarter of a claim; places-belong-to-their-hold looks after them. `part` counts within the
-- hold: with tier_id in the key, a table that nobody has analysed yet is searched for a tier by that key, from end to end.
CREATE TABLE ga_holds (
    hold_id    uuid NOT NULL,
    part       integer NOT NULL,
    event_id   integer NOT NULL,
    tier_id    integer NOT NULL,
    bucket     integer NOT NULL,
    quantity   integer NOT NULL,
    status     smallint NOT NULL DEFAULT 1,
    expires_at timestamptz NOT NULL,
    CONSTRAINT ga_holds_pk PRIMARY KEY (hold_id, part),
    CONSTRAINT ga_hold_quantity CHECK (quantity BETWEEN 1 AND 6),
    CONSTRAINT ga_hold_status_known CHECK (status BETWEEN 0 AND 3)
) WITH (fillfactor = 80);
CREATE INDEX ga_holds_due ON ga_holds (event_id, tier_id, expires_at) WHERE status = 1;
CREATE INDEX ga_holds_paying ON ga_holds (event_id, tier_id, expires_at) WHERE status = 2;

-- The places of an order, one row for each, so that each can be refunded and has a ticket of its own; `valid` from the
-- confirmation until a refund. A place has no number that people see: place_no counts within the order.
CREATE TABLE order_places (
    order_id      uuid NOT NULL,
    place_no      integer NOT NULL,
    event_id      integer NOT NULL,
    tier_id       integer NOT NULL,
    bucket        integer NOT NULL,
    price_type_id integer NOT NULL,
    amount_minor  bigint NOT NULL,
    valid         boolean NOT NULL DEFAULT false,
    CONSTRAINT order_places_pk PRIMARY KEY (order_id, place_no),
    CONSTRAINT order_place_of_order FOREIGN KEY (order_id) REFERENCES orders,
    CONSTRAINT order_place_amount_not_negative CHECK (amount_minor >= 0)
);

-- A ticket is for a seat or for a place.
ALTER TABLE tickets ALTER COLUMN seat_no DROP NOT NULL;
ALTER TABLE tickets ADD COLUMN place_no integer;
ALTER TABLE tickets ADD CONSTRAINT ticket_of_place FOREIGN KEY (order_id, place_no) REFERENCES order_places;
ALTER TABLE tickets ADD CONSTRAINT ticket_for_one_thing CHECK ((seat_no IS NULL) <> (place_no IS NULL));
CREATE UNIQUE INDEX place_ticket_issued_once ON tickets (order_id, place_no) WHERE status <> 'VOID';

-- What a batch of requests got: a code for each request, and, row by row, how many places of which bucket for which one.
CREATE TYPE claimed_places AS (
    codes      text[],
    requests   integer[],
    tiers      integer[],
    buckets    integer[],
    quantities integer[]
);
