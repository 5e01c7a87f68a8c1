SET lock_timeout = '2s';

ALTER TABLE orders RENAME COLUMN total TO total_cents;

-- later, when no service reads total: ALTER TABLE orders DROP COLUMN total;

-- down
ALTER TABLE orders DROP COLUMN total_cents;
