SET lock_timeout = '2s';

ALTER TABLE orders ADD COLUMN total_cents bigint GENERATED ALWAYS AS (total) STORED;

-- down
ALTER TABLE orders DROP COLUMN total_cents;
