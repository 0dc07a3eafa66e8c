SELECT announce_rooms($1, $2);
