SELECT s.second, s.measured_at, s.body FROM figures_seconds s ORDER BY s.second DESC LIMIT 1
