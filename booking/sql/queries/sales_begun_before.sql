SELECT sales_begun_before($1, $2) AS running
