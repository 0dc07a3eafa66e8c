SELECT * FROM lead_admission($1, $2);
