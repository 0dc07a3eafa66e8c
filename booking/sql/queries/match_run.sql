SELECT matched_of_run($1) AS matched, hurry_unknown_of_run($1) AS hurried
