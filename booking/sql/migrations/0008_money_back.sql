-- Money that goes back, tickets that are called off, payments in parts (R22–R25, R33).

-- What a clerk may give back of one order without a supervisor, in minor units of the event's currency.
ALTER TABLE events
    ADD COLUMN max_refund_by_clerk_minor bigint NOT NULL DEFAULT 20000,
    ADD CONSTRAINT max_refund_by_clerk_bounded CHECK (max_refund_by_clerk_minor BETWEEN 0 AND 1000000000000);

-- One act of a person who gives the money of tickets back (refund), or makes tickets void without that (cancel). A refund has
-- an operation for each charge that money goes back to; it is ACCEPTED with the first of them that succeeds, because nobody
-- may have both his money and a ticket, and REFUSED once all are declined. `house_hold_id` keeps seats that do not return to sale.
CREATE TABLE money_backs (
    money_back_id uuid NOT NULL,
    order_id      uuid NOT NULL,
    event_id      integer NOT NULL,
    kind          text NOT NULL,
    way           text NOT NULL DEFAULT '',
    status        text NOT NULL,
    amount_minor  bigint NOT NULL,
    seats_to_sale boolean NOT NULL,
    house_hold_id uuid NOT NULL,
    reason        text NOT NULL,
    principal     text NOT NULL,
    device_id     uuid,
    staff_id      uuid,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    CONSTRAINT money_backs_pk PRIMARY KEY (money_back_id),
    CONSTRAINT money_back_of_order FOREIGN KEY (order_id) REFERENCES orders,
    CONSTRAINT money_back_kind_known CHECK (kind IN ('refund', 'cancel')),
    CONSTRAINT money_back_way_known CHECK (way IN ('', 'same', 'cash') AND (kind = 'refund') = (way <> '')),
    CONSTRAINT money_back_status_known CHECK (status IN ('PENDING', 'ACCEPTED', 'REFUSED')),
    CONSTRAINT money_back_decided_once CHECK ((status = 'PENDING') = (decided_at IS NULL)),
    CONSTRAINT money_back_amount CHECK (amount_minor >= 0 AND (kind = 'refund' OR amount_minor = 0 AND status = 'ACCEPTED'))
);
CREATE INDEX money_backs_of_order ON money_backs (order_id);

-- The lines that an act is about. `counts` until it is refused: the money of a line goes back once.
CREATE TABLE money_back_lines (
    money_back_id uuid NOT NULL,
    line_no       integer NOT NULL,
    order_id      uuid NOT NULL,
    kind          text NOT NULL,
    ticket_id     uuid,
    seat_no       integer,
    place_no      integer,
    amount_minor  bigint NOT NULL,
    counts        boolean NOT NULL DEFAULT true,
    CONSTRAINT money_back_lines_pk PRIMARY KEY (money_back_id, line_no),
    CONSTRAINT line_of_money_back FOREIGN KEY (money_back_id) REFERENCES money_backs,
    CONSTRAINT line_of_ticket FOREIGN KEY (ticket_id) REFERENCES tickets,
    CONSTRAINT line_of_one_thing CHECK ((seat_no IS NULL) <> (place_no IS NULL))
);
CREATE INDEX money_back_lines_of_order ON money_back_lines (order_id);
CREATE UNIQUE INDEX seat_money_back_once ON money_back_lines (order_id, seat_no)
    WHERE counts AND kind = 'refund' AND seat_no IS NOT NULL;
CREATE UNIQUE INDEX place_money_back_once ON money_back_lines (order_id, place_no)
    WHERE counts AND kind = 'refund' AND place_no IS NOT NULL;

-- A ticket whose refund is on its way: it neither scans nor reprints until that is refused.
ALTER TABLE tickets ADD COLUMN money_back_id uuid;
ALTER TABLE tickets ADD CONSTRAINT ticket_of_money_back FOREIGN KEY (money_back_id) REFERENCES money_backs;

-- `money_back_id`: the act that opened it. `at_till`: a till pays it out, or drives its terminal, and reports. `expires_at`: the
-- end of an authorization, and of the time for its capture. `spare_ids`: of a part, the ids of its capture and of what gives it
-- back, so that whoever ends the sale needs none. A part that has succeeded is advised 'part' until its order is confirmed.
-- `void_requested` of a capture: it is parked, because a void of its charge is asked for instead.
ALTER TABLE payment_operations
    ADD COLUMN money_back_id uuid,
    ADD COLUMN at_till       boolean NOT NULL DEFAULT false,
    ADD COLUMN expires_at    timestamptz,
    ADD COLUMN spare_ids     uuid[],
    ADD CONSTRAINT operation_of_money_back FOREIGN KEY (money_back_id) REFERENCES money_backs,
    ADD CONSTRAINT till_gives_back CHECK (NOT at_till OR kind = 'refund' AND device_id IS NOT NULL),
    ADD CONSTRAINT part_has_spare_ids CHECK (advice <> 'part' OR cardinality(spare_ids) = 2),
    DROP CONSTRAINT operation_advice_known,
    ADD CONSTRAINT operation_advice_known CHECK (advice IN ('', 'part', 'goods-issued', 'reverse'));

-- What goes into a drawer and out of it beside sales, signed: negative is out. Append-only.
CREATE TABLE cash_movements (
    movement_id  uuid NOT NULL,
    kind         text NOT NULL,
    principal    text NOT NULL,
    device_id    uuid,
    staff_id     uuid,
    event_id     integer,
    operation_id uuid,
    amount_minor bigint NOT NULL,
    currency     text NOT NULL,
    at           timestamptz NOT NULL,
    CONSTRAINT cash_movements_pk PRIMARY KEY (movement_id),
    CONSTRAINT cash_movement_of_operation FOREIGN KEY (operation_id) REFERENCES payment_operations,
    CONSTRAINT cash_movement_kind_known CHECK (kind IN ('refund')),
    CONSTRAINT cash_refund_goes_out CHECK (kind <> 'refund' OR operation_id IS NOT NULL AND amount_minor < 0)
);
CREATE UNIQUE INDEX cash_moved_once ON cash_movements (operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX cash_movements_of_device ON cash_movements (device_id, at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON cash_movements FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Staff look orders up: newest first within an event, or of a till.
CREATE INDEX orders_of_event ON orders (event_id, order_id);
CREATE INDEX orders_of_principal ON orders (principal, order_id);
