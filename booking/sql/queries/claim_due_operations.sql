SELECT claim_due_operations($1) AS operation_id
