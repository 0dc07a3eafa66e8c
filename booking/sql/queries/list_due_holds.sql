SELECT h.hold_id FROM holds h
 WHERE h.status IN ('HELD', 'PAYMENT_PENDING') AND h.expires_at <= (SELECT booking_now()) ORDER BY h.expires_at LIMIT $1;
