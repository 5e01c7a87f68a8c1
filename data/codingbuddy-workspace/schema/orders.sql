CREATE TABLE orders (
  id bigint PRIMARY KEY,
  customer_id bigint NOT NULL,
  total bigint NOT NULL -- in cents, in spite of its name
);
