SELECT keep_admission_state($1, $2, $3::jsonb, $4::jsonb) AS kept;
