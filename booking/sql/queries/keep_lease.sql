SELECT keep_lease($1, $2, $3) AS kept
