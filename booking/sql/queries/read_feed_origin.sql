SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier,
       substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)       AS timeline;
