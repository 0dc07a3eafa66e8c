SELECT enter_admission($1, $2, $3, $4, $5, $6, $7) AS code
