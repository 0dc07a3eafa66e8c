SELECT ended, last FROM end_settled_items($1, $2)
