"""The typed client library of Taquilla's booking API; usable without the console, knows no Qt."""
