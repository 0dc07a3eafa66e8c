SELECT * FROM lock_waits($1)
