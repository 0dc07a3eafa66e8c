"""One function for each route: convert, call one service, convert back. No decisions live here."""
