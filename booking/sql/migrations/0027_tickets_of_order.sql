-- The tickets of an order, void or not: both indexes over orders are of tickets in one state, so that whoever asked for all of them
-- read the whole table.
CREATE INDEX tickets_of_order ON tickets (order_id);
