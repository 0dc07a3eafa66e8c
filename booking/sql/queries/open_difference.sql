SELECT open_item_about($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, booking_now()) AS opened
