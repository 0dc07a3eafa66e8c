SELECT note_unknown_operations($1::uuid[]) AS noted
