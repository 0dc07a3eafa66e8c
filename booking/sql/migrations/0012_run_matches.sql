-- The operation that a movement of a comparison was found to be: matched once, and compared by it in every way.
ALTER TABLE run_movements ADD COLUMN operation_id uuid;
