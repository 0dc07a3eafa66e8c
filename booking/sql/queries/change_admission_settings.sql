SELECT * FROM change_admission_settings($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10);
