SELECT end_settled_item($1, booking_now()) AS ended
