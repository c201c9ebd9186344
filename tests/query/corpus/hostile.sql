;
;;;
--
/*
*/
'
"
`
\
SELECT
WITH
SELECT SELECT
SELECT FROM
SELECT WITH
SELECT WITH DIFFERENTIAL_PRIVACY
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (
SELECT WITH ANONYMIZATION OPTIONS (epsilon
SELECT WITH ANONYMIZATION OPTIONS (epsilon =
SELECT WITH ANONYMIZATION OPTIONS (epsilon = .
WITH a AS
WITH a AS (SELECT
SELECT b AS a, a AS b, COUNT(*) FROM people
SELECT COUNT(*) AS n, m AS k, k AS m FROM people GROUP BY k
SELECT COUNT(*) AS "" FROM people
SELECT COUNT(*) FROM people WHERE age = 1e-99999
SELECT SUM(age * 1e76) FROM people
SELECT SUM(age / 1e76 / 1e76) FROM people
SELECT ROUND(COUNT(*), 1e9) FROM people
SELECT ROUND(COUNT(*), -99999999999999999999) FROM people
SELECT ROUND(age, age) FROM people
SELECT COUNT(*) FROM people WHERE joined = '9999-12-31' + INTERVAL '1' DAY
SELECT COUNT(*) FROM people WHERE joined > DATE '0000-00-00'
SELECT COUNT(*) FROM people WHERE joined + INTERVAL '1e9' DAY > '2020-01-01'
SELECT COUNT(*) FROM people WHERE joined > INTERVAL
SELECT COUNT(*) FROM people WHERE DATE_TRUNC('month', DATE '2020-01-01') = joined
SELECT DATE_TRUNC() FROM people
SELECT COUNT(*) FROM people -- '; DROP TABLE people
SELECT COUNT(*) FROM people /* /* nested */ */
SELECT COUNT(*) FROM people WHERE 1=1--
SELECT COUNT(*) FROM people WHERE note = '' OR ''=''
SELECT COUNT(*) FROM people WHERE note = '\'; DROP TABLE people; --'
SELECT COUNT(*) FROM people UNION SELECT sql FROM sqlite_master
SELECT COUNT(*) FROM people WHERE 1 = (SELECT 1 FROM pg_sleep(10))
SELECT COUNT(*) FROM people; COPY people TO PROGRAM 'sh'
SELECT COUNT(*) FROM "people" "; DROP TABLE people; --"
SELECT COUNT(*) FROM "people""; --"
SELECT COUNT(*) FROM [people]
SELECT COUNT(*) FROM `people`
SELECT TOP 3 COUNT(*) FROM people
SELECT COUNT(*) FROM people WHERE {fn user()} = 1
SELECT {{ config }} FROM people
SELECT COUNT(*) FROM people WHERE ${jndi:ldap://x}
SELECT COUNT(*) FROM people WHERE x'41' = note
SELECT COUNT(*) FROM people WHERE U&'\0041' = note
SELECT E'\x00' FROM people
SELECT reflect('java.lang.System', 'exit', 1), java_method('a', 'b') FROM people
SELECT COUNT(*) FROM people WHERE (age, spend) = (1, 2)
SELECT COUNT(*)::text FROM people
SELECT age[1] FROM people
SELECT COUNT(*) FILTER (WHERE COUNT(*) > 1) FROM people
SELECT MODE() FROM people
SELECT MODE() WITHIN GROUP (ORDER BY age, spend) FROM people
SELECT TOP_K() FROM people
SELECT QUANTILE_CONT(age) FROM people
SELECT CLAMP(age) FROM people
SELECT COUNT(*) FROM people WHERE CLAMP(age, 1, spend) = 1
SELECT COUNT(*) FROM people JOIN regions ON region = zone
SELECT COUNT(*) FROM people JOIN regions USING (person_id)
SELECT COUNT(*) FROM people JOIN regions USING (pop)
SELECT COUNT(*) FROM people JOIN regions ON 1 = 1
SELECT * EXCEPT (age) FROM people
SELECT COUNT(*) FROM (SELECT * EXCEPT (age) FROM people) AS x
SELECT COUNT(*) FROM (SELECT * REPLACE (1 AS age) FROM people) AS x
SELECT COUNT(*) FROM (SELECT person_id FROM people) AS x JOIN (SELECT person_id FROM visits) AS y USING (person_id)
