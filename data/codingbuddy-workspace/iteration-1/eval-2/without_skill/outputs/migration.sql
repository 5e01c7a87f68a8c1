SET lock_timeout = '2s';

SELECT lower(email), count(*) FROM users GROUP BY 1 HAVING count(*) > 1;

CREATE UNIQUE INDEX CONCURRENTLY users_email_unique ON users (lower(email));

-- down
DROP INDEX CONCURRENTLY users_email_unique;
