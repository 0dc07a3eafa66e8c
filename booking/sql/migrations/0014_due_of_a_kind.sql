-- Each round of the payment worker looks first for tills that are silent and captures that are late. With thousands of
-- operations due, as after a provider's bad minute, both read every one of them to find none: a round of 32 cost more the more
-- was left. Each finds its own now.
CREATE INDEX operations_due_at_tills ON payment_operations (next_attempt_at)
    WHERE next_attempt_at IS NOT NULL AND (kind = 'sale' OR at_till);
CREATE INDEX captures_due ON payment_operations (created_at) WHERE next_attempt_at IS NOT NULL AND kind = 'capture';
