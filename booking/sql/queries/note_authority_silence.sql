-- $1: who heard nothing. $2: in words. $3, $4: from when to when.
SELECT note_change('figures', 'authority-silent', $1, $2, jsonb_build_object(
    'from', jsonb_build_object('heard_at', $3::timestamptz), 'to', jsonb_build_object('heard_at', $4::timestamptz)),
    booking_now())
