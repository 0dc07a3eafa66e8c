SELECT EXISTS (SELECT FROM reconciliation_runs r WHERE r.provider = $1 AND r.day = $2 AND r.started_by = 'authority' AND r.state <> 'failed') AS been
