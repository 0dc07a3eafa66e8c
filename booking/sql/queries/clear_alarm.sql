SELECT clear_alarm($1, $2, $3)
