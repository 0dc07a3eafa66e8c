SELECT matched, hurried FROM match_run($1)
