-- The documents' tables, as simple as they describe them. No UNIQUE on bookings: that is what the experiments are about.
CREATE TABLE IF NOT EXISTS seats (
    event_id        integer NOT NULL,
    seat_id         text NOT NULL,
    status          text NOT NULL DEFAULT 'available' CHECK (status IN ('available', 'held', 'sold')),
    held_by         text,
    hold_expires_at timestamptz,
    version         integer NOT NULL DEFAULT 0,
    PRIMARY KEY (event_id, seat_id)
);
CREATE TABLE IF NOT EXISTS bookings (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   integer NOT NULL,
    seat_id    text NOT NULL,
    buyer      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS ga_counter (
    event_id integer PRIMARY KEY,
    capacity integer NOT NULL,
    sold     integer NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS ga_tickets (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id integer NOT NULL,
    status   text NOT NULL DEFAULT 'available',
    buyer    text
);
CREATE INDEX IF NOT EXISTS ga_tickets_available ON ga_tickets (event_id) WHERE status = 'available';
