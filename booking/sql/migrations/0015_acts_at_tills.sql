-- A supervisor takes an order back whose money never came, and hands what is still owed to a till (R25, R33).

-- What else was asked of a second person: whether the seats return to sale, and which till gives money back by which way.
ALTER TABLE item_approvals
    ADD COLUMN seats_to_sale boolean NOT NULL DEFAULT true,
    ADD COLUMN device_id     uuid,
    ADD COLUMN way           text NOT NULL DEFAULT '',
    ADD CONSTRAINT approval_way_known CHECK (way IN ('', 'same', 'cash') AND (device_id IS NULL) = (way = ''));

-- `item_id`: the item by which an order was taken back. It is CANCELLED then without anybody having wished so, and what its lost
-- charge brings after all goes back by itself.
ALTER TABLE money_backs
    ADD COLUMN item_id uuid,
    ADD CONSTRAINT take_back_of_item FOREIGN KEY (item_id) REFERENCES reconciliation_items,
    ADD CONSTRAINT take_back_moves_no_money CHECK (item_id IS NULL OR kind = 'cancel');

-- What a till has to give back and has not reported: few rows at any time.
CREATE INDEX operations_at_till ON payment_operations (device_id)
    WHERE at_till AND status IN ('SENT', 'UNKNOWN');
