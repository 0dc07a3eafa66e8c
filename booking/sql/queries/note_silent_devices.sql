SELECT note_silent_devices($1) AS noted
