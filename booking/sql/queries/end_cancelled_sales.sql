SELECT ended, remaining FROM end_cancelled_sales($1, $2)
