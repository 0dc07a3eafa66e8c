SELECT ask_provider_now($1) AS asked
