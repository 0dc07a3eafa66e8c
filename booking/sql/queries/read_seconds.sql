SELECT s.body FROM figures_seconds s WHERE s.measured_at > $1 AND s.measured_at <= $2 ORDER BY s.second LIMIT $3
