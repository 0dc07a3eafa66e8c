SELECT withdraw_payment($1) AS told
