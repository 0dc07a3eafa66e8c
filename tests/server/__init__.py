"""The booking system on a real PostgreSQL."""
