-- $1: who heard nothing. $2: in words. $3, $4: from when to when. Once, however often it is asked for.
SELECT note_authority_silence($1, $2, $3, $4)
