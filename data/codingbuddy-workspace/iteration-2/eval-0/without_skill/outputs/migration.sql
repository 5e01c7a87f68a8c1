ALTER TABLE customers ADD COLUMN country text;

UPDATE customers SET country = 'unknown';
