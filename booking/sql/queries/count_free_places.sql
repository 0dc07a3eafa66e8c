SELECT free_places($1) AS places;
