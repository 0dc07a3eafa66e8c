SELECT note_room_changes($1::jsonb);
