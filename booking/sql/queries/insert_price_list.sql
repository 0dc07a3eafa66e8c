-- $1 event_id; categories $2 numbers, $3 names, $4 colours; types $5 numbers, $6 names; prices $7 categories, $8 types,
-- $9 amounts. Everything of price version 1. The constraints of `prices` are checked when the statement ends.
WITH categories AS (
    INSERT INTO price_categories (event_id, category_no, name, color)
    SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::text[])
), types AS (
    INSERT INTO price_types (event_id, price_type_id, name)
    SELECT $1, * FROM unnest($5::integer[], $6::text[])
)
INSERT INTO prices (event_id, price_version, category_no, price_type_id, amount_minor)
SELECT $1, 1, * FROM unnest($7::integer[], $8::integer[], $9::bigint[])
