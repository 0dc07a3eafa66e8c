"""Changes of one map to two thousand clients of one API process."""
