SET lock_timeout = '2s';

ALTER TABLE orders ADD COLUMN total_cents bigint GENERATED ALWAYS AS (total) STORED;

-- later, when no service reads total: ALTER TABLE orders DROP COLUMN total;

-- down
ALTER TABLE orders DROP COLUMN total_cents;
