SELECT remember_reference($1, $2) AS remembered
