SET lock_timeout = '2s';

DELETE FROM users a USING users b WHERE a.id > b.id AND a.email = b.email;

CREATE UNIQUE INDEX CONCURRENTLY users_email_unique ON users (lower(email));

-- down
DROP INDEX CONCURRENTLY users_email_unique;
