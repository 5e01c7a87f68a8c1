SET lock_timeout = '2s';

ALTER TABLE customers ADD COLUMN country text NOT NULL;

UPDATE customers SET country = 'unknown';

-- down
ALTER TABLE customers DROP COLUMN country;
