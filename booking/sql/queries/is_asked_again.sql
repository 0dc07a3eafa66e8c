-- Whether one of these operations has its answer and is due all the same: a person has asked, and nobody has told him yet.
SELECT EXISTS (SELECT FROM payment_operations p
                WHERE p.operation_id = ANY ($1) AND p.status IN ('SUCCEEDED', 'DECLINED') AND p.next_attempt_at IS NOT NULL)
       AS is_asked
