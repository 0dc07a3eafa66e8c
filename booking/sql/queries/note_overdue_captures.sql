SELECT note_overdue_captures($1) AS noted
