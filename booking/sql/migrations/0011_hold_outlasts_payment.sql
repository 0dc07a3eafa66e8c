-- A hold that ends no later than a payment needs can never be paid: such an event sells nothing. The rule belongs to the two
-- settings together, so it stands where both are. Events that broke it keep their time to live: buyers were promised it.
UPDATE events SET min_time_to_pay_s = hold_ttl_s - 1 WHERE hold_ttl_s <= min_time_to_pay_s;
ALTER TABLE events ADD CONSTRAINT hold_outlasts_payment CHECK (hold_ttl_s > min_time_to_pay_s);
