SELECT publish_admission_keys($1, $2, $3)
