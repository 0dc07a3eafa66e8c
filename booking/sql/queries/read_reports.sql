SELECT f.heard_at, f.body FROM process_figures f
