SELECT sweep_hold($1, booking_now());
