"""PostgreSQL: pools and lanes, one function for each query, SQLSTATE and constraint name → domain error."""
