SELECT mark_sent($1) AS sent
