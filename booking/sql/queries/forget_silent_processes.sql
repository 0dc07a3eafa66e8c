SELECT forget_silent_processes($1)
