-- How an act on one order begins, wherever a person and not the hot path acts: what its key has done already, whether the caller may
-- see the order, the locks, and the key once more, because of two calls that repeat each other the other may have had the locks
-- first. `answer` is NULL when the act may go on with `sale`. p_locks: 'order', its row alone; 'sale', see lock_sale; 'money',
-- see lock_order_for_money.
CREATE OR REPLACE FUNCTION begin_order_act(
    p_principal text, p_all boolean, p_route text, p_order uuid, p_locks text, p_key text, p_digest bytea,
    OUT answer sale_answer, OUT sale orders
) LANGUAGE plpgsql AS $$
BEGIN
    answer := seen_key(p_principal, p_route, p_key, p_digest, p_order);
    IF answer.code IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT * INTO sale FROM orders o WHERE o.order_id = p_order;
    IF NOT FOUND OR NOT (p_all OR sale.principal = p_principal) THEN
        answer := refused('order-not-found');
        RETURN;
    END IF;
    CASE p_locks
        WHEN 'order' THEN
            SELECT * INTO sale FROM orders o WHERE o.order_id = p_order FOR NO KEY UPDATE;
        WHEN 'sale' THEN
            sale := lock_sale(p_order);
        WHEN 'money' THEN
            sale := lock_order_for_money(p_order);
    END CASE;
    answer := seen_key(p_principal, p_route, p_key, p_digest, p_order);
END $$;
