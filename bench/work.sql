-- What bench/run gives to SQLite: inserts, an index, joins, aggregates, in memory.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 10007), i * 31 % 997 FROM n;
CREATE INDEX item_name ON item(name);
CREATE TABLE sale AS SELECT i.id AS item, j.id % 7 AS shop FROM item i JOIN item j ON j.id = i.id * 3;
SELECT shop, count(*), sum(price) FROM sale JOIN item ON item.id = sale.item GROUP BY shop ORDER BY 3;
SELECT count(*) FROM item a JOIN item b ON a.name = b.name AND a.id < b.id;
SELECT upper(substr(name, 1, 6)), avg(price) FROM item GROUP BY 1 ORDER BY 2 DESC LIMIT 3;
