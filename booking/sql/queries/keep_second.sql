SELECT keep_second($1, $2, $3, $4)
