-- A club has no seats at all: a plan may hold standing places alone. Readers refuse a plan with neither.
ALTER TABLE plans DROP CONSTRAINT plan_has_seats;
ALTER TABLE plans ADD CONSTRAINT plan_seats_in_range CHECK (seat_count BETWEEN 0 AND 16777215);
