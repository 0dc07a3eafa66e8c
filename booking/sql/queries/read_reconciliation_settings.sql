SELECT s.second_person_above_minor, s.limits_by_currency::text AS limits, s.run_at_hour, s.zone, s.unknown_after_s, s.version, booking_now() AS server_time FROM reconciliation_terms() s
