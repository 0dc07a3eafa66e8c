SELECT booking_now();
