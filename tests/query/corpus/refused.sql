SELECT age FROM people
--! 1:8 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT person_id FROM people
--! 1:8 'person_id' is the unit of privacy, and can only be counted: COUNT(DISTINCT person_id)

SELECT * FROM people
--! 1:8 * can stand only in COUNT(*) and in a subquery

SELECT people.* FROM people
--! 1:8 '*' is a value of single rows; aggregate it, or GROUP BY it

SELECT nosuch FROM people
--! 1:8 there is no column 'nosuch' here; there are person_id, age, spend, region, joined, note, member, free

SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY nosuch
--! 1:67 there is no column 'nosuch' here; there are person_id, age, spend, region, joined, note, member, free; the answer has region, n

SELECT age, COUNT(*) FROM people
--! 1:8 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT region, age, COUNT(*) FROM people GROUP BY region
--! 1:16 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT age + 1 FROM people GROUP BY region
--! 1:8 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT 1 FROM people
--! 1:8 nothing is asked of the groups; add COUNT(*) or another aggregate

SELECT COUNT(*) + age FROM people
--! 1:19 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT DISTINCT region FROM people
--! 1:17 SELECT DISTINCT is not supported; use GROUP BY

SELECT DISTINCT ON (age) COUNT(*) FROM people
--! 1:21 SELECT DISTINCT is not supported; use GROUP BY

SELECT region FROM people GROUP BY region
--! 1:8 nothing is asked of the groups; add COUNT(*) or another aggregate

SELECT COUNT(DISTINCT age) FROM people
--! 1:23 only the unit can be counted distinct; use GROUP BY to count each value

SELECT COUNT(DISTINCT person_id, age) FROM people
--! 1:23 only the unit can be counted distinct; use GROUP BY to count each value

SELECT COUNT(DISTINCT "Person_ID") FROM people
--! 1:23 there is no column 'Person_ID' here; there are person_id, age, spend, region, joined, note, member, free

SELECT COUNT(DISTINCT nosuch) FROM people
--! 1:23 there is no column 'nosuch' here; there are person_id, age, spend, region, joined, note, member, free

SELECT COUNT(person_id) FROM people
--! 1:14 count rows by COUNT(*), and units by COUNT(DISTINCT ...)

SELECT COUNT() FROM people
--! 1:8 a value is missing here

SELECT SUM(DISTINCT spend) FROM people
--! 1:21 DISTINCT is only in COUNT(DISTINCT unit)

SELECT SUM(person_id) FROM people
--! 1:12 'person_id' is the unit of privacy, and can only be counted: COUNT(DISTINCT person_id)

SELECT MAX(person_id) FROM people
--! 1:12 'person_id' is the unit of privacy, and can only be counted: COUNT(DISTINCT person_id)

SELECT SUM(region) FROM people
--! 1:8 a sum is of numbers; this is a category

SELECT SUM(note) FROM people
--! 1:8 a sum is of numbers; this is a text

SELECT SUM(free) FROM people
--! 1:8 'free' has no bounds: put lower and upper in the schema, buy them with tacit bounds, or CLAMP the values

SELECT MEDIAN(region) FROM people
--! 1:8 a quantile is of numbers or dates; this is a category

SELECT MODE(note) FROM people
--! 1:8 the values of text are not public; list them in the schema, or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k

SELECT TOP_K(region, 3) FROM people
--! 1:8 k must be from 1 to 2: there are 2 values

SELECT TOP_K(age, 0) FROM people
--! 1:19 how many are to be found is a whole number from 1 to 100

SELECT 1 + TOP_K(age, 2) FROM people
--! 1:12 several most common values are columns of their own; write TOP_K(x, k) alone

SELECT QUANTILE(age, 1.5) FROM people
--! 1:22 a quantile is asked at a rank strictly between 0 and 1, such as 0.01 or 0.99

SELECT QUANTILE(age, 0) FROM people
--! 1:22 a quantile is asked at a rank strictly between 0 and 1, such as 0.01 or 0.99

SELECT COUNT(*) DIV 2 FROM people
--! 1:8 DIV is for single rows: use it in WHERE, or within an aggregate

SELECT QUANTILE(age, age) FROM people
--! 1:22 the rank of a quantile must be a number

SELECT PERCENTILE_CONT(0.5) FROM people
--! 1:8 write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), or QUANTILE(x, q)

SELECT VAR_SAMP(age) FROM people
--! 1:8 variances are of the population: use VAR_POP

SELECT STDDEV_SAMP(age) FROM people
--! 1:8 variances are of the population: use STDDEV_POP

SELECT VARIANCE_SAMP(age) FROM people
--! 1:8 variances are of the population: use VAR_POP

SELECT "stddev_samp"(age) FROM people
--! 1:8 variances are of the population: use STDDEV_POP

SELECT STDEV(age) FROM people
--! 1:8 variances are of the population: use STDDEV_POP

SELECT ANY_VALUE(age) FROM people
--! 1:8 ANY_VALUE is not on the list of aggregates

SELECT ARRAY_AGG(age) FROM people
--! 1:8 ARRAY_AGG is not on the list of aggregates

SELECT STRING_AGG(note, ',') FROM people
--! 1:19 GROUP_CONCAT is not on the list of aggregates

SELECT CORR(age, spend) FROM people
--! 1:8 CORR is not on the list of aggregates

SELECT SUM(age ORDER BY spend) FROM people
--! 1:12 ORDER is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT SUM(AVG(age)) FROM people
--! 1:12 an aggregate cannot stand here

SELECT region, COUNT(*) OVER (PARTITION BY region) FROM people
--! 1:16 window functions are not supported; use GROUP BY, and compute shares from the answer, free

SELECT SUM(COUNT(*)) OVER () FROM people
--! 1:8 window functions are not supported; use GROUP BY, and compute shares from the answer, free

SELECT ROW_NUMBER() OVER (PARTITION BY region) FROM people
--! 1:8 window functions are not supported; use GROUP BY, and compute shares from the answer, free

SELECT COUNT(*) OVER (ORDER BY age) FROM people
--! 1:8 window functions are not supported; use GROUP BY, and compute shares from the answer, free

SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM people
--! 1:8 a question is one SELECT; sets and statements are not supported

SELECT COUNT(*) FROM people EXCEPT SELECT COUNT(*) FROM people
--! 1:8 a question is one SELECT; sets and statements are not supported

SELECT COUNT(*) FROM people QUALIFY 1 = 1
--! 1:37 SELECT with QUALIFY is not supported

SELECT COUNT(*) FROM people GROUP BY person_id
--! 1:38 groups by the unit are single people; group by it in a subquery

SELECT COUNT(*) FROM people GROUP BY ROLLUP (region)
--! 1:46 ROLLUP is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people GROUP BY GROUPING SETS ((region), ())
--! 1:54 GROUPING SETS is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT age + COUNT(*) FROM people GROUP BY ALL
--! 1:8 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT region, COUNT(*) FROM people GROUP BY ALL region
--! 1:50 GROUP with ALL is not supported

SELECT COUNT(*) FROM people GROUP BY 7
--! 1:38 there is no column 7 of 1 to group by

SELECT COUNT(*) FROM people GROUP BY 0000000001
--! 1:38 there is no column 0000000001 of 1 to group by

SELECT COUNT(*) FROM people GROUP BY COUNT(*)
--! 1:38 an aggregate cannot stand here

SELECT free, COUNT(*) FROM people GROUP BY free
--! 1:44 there are no declared bounds; declare them, or bin the values

SELECT spend, age, COUNT(*) FROM people GROUP BY spend, age
--! 1:57 7744121 groups are more than 1000000; group by fewer or wider ones

SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM people)
--! 1:35 a subquery can stand only after FROM or JOIN

SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)
--! 1:50 a subquery can stand only after FROM or JOIN

SELECT COUNT(*) FROM people WHERE age = (SELECT MAX(age) FROM people)
--! 1:49 a subquery can stand only after FROM or JOIN

SELECT (SELECT COUNT(*) FROM people) FROM people
--! 1:16 a subquery can stand only after FROM or JOIN

SELECT COUNT(*) FROM people WHERE COUNT(*) > 3
--! 1:35 an aggregate cannot stand here

SELECT COUNT(*) FROM people WHERE age
--! 1:35 a condition must be true or false, such as age >= 18

SELECT COUNT(*) FROM people WHERE age = 'old'
--! 1:35 a number and text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT COUNT(*) FROM people WHERE region = 'east'
--! 1:44 'east' is none of the labels 'north', 'south'

SELECT COUNT(*) FROM people WHERE region < 'north'
--! 1:35 text and categories have no public order; use = or IN

SELECT COUNT(*) FROM people WHERE note > 'a'
--! 1:35 text and categories have no public order; use = or IN

SELECT COUNT(*) FROM people WHERE note LIKE 'a_'
--! 1:35 a pattern on text has no _ and no escapes, only %

SELECT COUNT(*) FROM people WHERE note LIKE region
--! 1:45 the pattern of LIKE must be text that is written in the question

SELECT COUNT(*) FROM people WHERE note ILIKE 'a%'
--! 1:35 LOWER, UPPER and ILIKE are on categories, whose labels are public; this is a text

SELECT COUNT(*) FROM people WHERE LOWER(note) = 'a'
--! 1:35 LOWER, UPPER and ILIKE are on categories, whose labels are public; this is a text

SELECT SUM(POWER(age, 0.5)) FROM people
--! 1:12 a power is a whole number from 1 to 10 that is written in the question

SELECT COUNT(POWER(region, 1)) FROM people
--! 1:14 arithmetic is on numbers; this is a category

SELECT SUM(POWER(age, age)) FROM people
--! 1:12 a power is a whole number from 1 to 10 that is written in the question

SELECT SUM(POWER(age, 10)) FROM people
--! 1:12 values may leave 64 bits here; declare narrower bounds, or CLAMP the values first

SELECT COUNT(*) FROM people WHERE REGEXP_LIKE(note, '.*')
--! 1:35 REGEXP_LIKE is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE note ~ 'a'
--! 1:40 this is not SQL that can be read, near '~'

SELECT COUNT(*) FROM people WHERE note LIKE 'a!%' ESCAPE '!'
--! 1:35 ESCAPE is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE person_id = 7
--! 1:35 'person_id' is the unit of privacy, and can only be counted: COUNT(DISTINCT person_id)

SELECT COUNT(*) FROM people WHERE height > 3
--! 1:35 there is no column 'height' here; there are person_id, age, spend, region, joined, note, member, free

SELECT COUNT(*) FROM people WHERE other.age > 3
--! 1:35 there is no table 'other' here; there are people

SELECT COUNT(*) FROM people WHERE main.people.age > 3
--! 1:35 COLUMN with DB is not supported

SELECT COUNT(*) FROM people WHERE age > ?
--! 1:35 parameters are not supported; write the value

SELECT COUNT(*) FROM people WHERE age > :limit
--! 1:35 parameters are not supported; write the value

SELECT COUNT(*) FROM people WHERE age > @limit
--! 1:35 parameters are not supported; write the value

SELECT COUNT(*) FROM people WHERE age > $1
--! 1:41 there is no column '$1' here; there are person_id, age, spend, region, joined, note, member, free

SELECT COUNT(*) FROM people WHERE RANDOM() < 0.5
--! 1:35 RANDOM is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE region SIMILAR TO 'n%'
--! 1:35 SIMILAR TO is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE joined < CURRENT_DATE
--! 1:35 CURRENT_DATE is not on the list of what can be asked; write the date itself

SELECT COUNT(*) FROM people WHERE joined > '2020-13-01'
--! 1:44 a date is written like 2020-12-31; got '2020-13-01'

SELECT COUNT(*) FROM people WHERE joined + INTERVAL '1' MONTH > '2020-01-01'
--! 1:53 an interval is a number of days, weeks, hours, minutes or seconds

SELECT COUNT(*) FROM people WHERE age > 9999999999999999999999999
--! 1:41 values may leave 64 bits here; declare narrower bounds, or CLAMP the values first

SELECT COUNT(*) FROM people WHERE age % 0 = 1
--! 1:35 a remainder is taken by a positive constant

SELECT COUNT(*) FROM people WHERE age IN ()
--! 1:35 a list holds from 1 to 1000 values

SELECT COUNT(*) FROM people WHERE error(note) = 1
--! 1:35 there is no function ERROR

SELECT COUNT(*) FROM people WHERE getenv('HOME') = note
--! 1:35 there is no function GETENV

SELECT COUNT(*) FROM people WHERE age & 1 = 1
--! 1:35 & is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE note || 'a' = 'ba'
--! 1:35 || is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE CAST(note AS INT) = 1
--! 1:40 a text cannot be cast to integer

SELECT COUNT(*) FROM people WHERE CAST(age AS STRUCT<a INT>) = 1
--! 1:47 CAST is to INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR

SELECT SUM(age * 1e300) FROM people
--! 1:18 values may leave 64 bits here; declare narrower bounds, or CLAMP the values first

SELECT SUM(free * free) FROM people
--! 1:12 values may leave 64 bits here; declare narrower bounds, or CLAMP the values first

SELECT SUM(age + 1e-60) FROM people
--! 1:12 values may leave 64 bits here; declare narrower bounds, or CLAMP the values first

SELECT COUNT(*) FROM people LIMIT 0
--! 1:35 LIMIT is a whole number of at least 1

SELECT COUNT(*) FROM people LIMIT 1.5
--! 1:35 LIMIT is a whole number of at least 1

SELECT COUNT(*) FROM people LIMIT 5 OFFSET 5
--! 1:44 SELECT with OFFSET is not supported

SELECT COUNT(*) FROM people FETCH FIRST 3 ROWS ONLY
--! 1:41 FETCH is not supported; use LIMIT

SELECT COUNT(*) FROM people ORDER BY age
--! 1:38 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT COUNT(*) AS n FROM people ORDER BY n NULLS LAST, 2
--! 1:57 there are 1 columns to order by

SELECT COUNT(*) AS n FROM people ORDER BY n DESC NULLS FIRST
--! 1:43 missing values stand last; NULLS FIRST is not supported

SELECT COUNT(*) AS n FROM people WHERE joined * INTERVAL '2' DAY > DATE '2020-01-01'
--! 1:58 INTERVAL is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) AS n FROM people HAVING age > 3
--! 1:41 'age' is a value of single rows; aggregate it, or GROUP BY it

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n > 3 AND AVG(age) > '10'
--! 1:75 a number and a text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT COUNT(*) > '200' AS many FROM people
--! 1:8 a number and a text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING region IN ('north', 5)
--! 1:65 a number and a text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT COALESCE(AVG(age), 'none') AS m FROM people
--! 1:8 a number and a text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT MEDIAN(joined) > '2020-1-9' AS late FROM people
--! 1:25 a date is written like 2020-12-31; got '2020-1-9'

SELECT note, MEDIAN(joined) = note AS same, COUNT(*) AS n FROM people GROUP BY note
--! 1:14 a date and a text do not go together

SELECT member, COUNT(*) AS n FROM people GROUP BY member HAVING member = 'true'
--! 1:65 a boolean and a text do not go together; numbers, TRUE and FALSE are written without quotes

SELECT member, member + 1 AS more, COUNT(*) AS n FROM people GROUP BY member
--! 1:16 this is computed of numbers only, and here is a boolean

SELECT region, -region AS less, COUNT(*) AS n FROM people GROUP BY region
--! 1:17 this is computed of numbers only, and here is a text

SELECT region, CAST(region AS DOUBLE) AS x, COUNT(*) AS n FROM people GROUP BY region
--! 1:21 what is released can be cast if it is a number or a condition

SELECT NOT COUNT(*) AS b FROM people
--! 1:12 a condition must be true or false, such as n >= 18; this is a number

SELECT COUNT(*) AND TRUE AS b FROM people
--! 1:8 a condition must be true or false, such as n >= 18; this is a number

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n
--! 1:65 a condition must be true or false, such as n >= 18; this is a number

SELECT CASE WHEN COUNT(*) THEN 1 ELSE 2 END AS x FROM people
--! 1:18 a condition must be true or false, such as n >= 18; this is a number

SELECT COUNT(*) AS n, SUM(age) AS n FROM people
--! 1:23 two columns of the answer are called 'n'; name one otherwise

SELECT COUNT(*) AS n, foo(COUNT(*)) FROM people
--! 1:23 there is no function FOO

SELECT COUNT(*) FROM nowhere
--! 1:22 there is no table 'nowhere'; there are people, visits, regions

SELECT COUNT(*) FROM main.people
--! 1:22 a table is called by its name alone, with no database or schema before it

SELECT COUNT(*) FROM 'people.parquet'
--! 1:22 there is no table 'people.parquet'; there are people, visits, regions

SELECT COUNT(*) FROM read_parquet('people.parquet')
--! 1:22 rows come from a table or a subquery; functions, files and sets are not supported

SELECT COUNT(*) FROM people TABLESAMPLE (10)
--! 1:42 TABLESAMPLE is not supported

SELECT COUNT(*) FROM regions
--! 1:22 a public table can only be joined to a private one

SELECT COUNT(*)
--! 1:8 a question is about a table: SELECT ... FROM ...

SELECT COUNT(*) FROM people, visits
--! 1:30 a join is USING one column, or ON one column = another

SELECT COUNT(*) FROM people CROSS JOIN visits
--! 1:40 CROSS JOIN is not supported; use JOIN, or LEFT JOIN of a public table

SELECT COUNT(*) FROM people OUTER JOIN regions ON people.region = regions.region
--! 1:40 OUTER JOIN is not supported; use JOIN, or LEFT JOIN of a public table

SELECT COUNT(*) FROM people NATURAL JOIN visits
--! 1:42 NATURAL JOIN is not supported; name the columns: JOIN ... ON, or USING

SELECT COUNT(*) FROM people LEFT JOIN visits USING (person_id)
--! 1:39 private tables are joined by JOIN, not LEFT JOIN

SELECT COUNT(*) FROM people FULL JOIN regions USING (region)
--! 1:39 FULL JOIN is not supported; use JOIN, or LEFT JOIN of a public table

SELECT COUNT(*) FROM people JOIN visits ON people.age = visits.age
--! 1:34 private tables are joined on their units alone

SELECT COUNT(*) FROM people JOIN visits ON people.person_id = visits.age
--! 1:34 private tables are joined on their units alone

SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id = v.person_id OR 1 = 1
--! 1:36 a join is USING one column, or ON one column = another

SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id < v.person_id
--! 1:36 a join is USING one column, or ON one column = another

SELECT COUNT(*) FROM people JOIN regions ON people.region = regions.zone
--! 1:34 key must be there once only in the column zone of the public table regions; got 'a'

SELECT COUNT(*) FROM people JOIN regions ON people.region = people.region
--! 1:34 a public table is joined ON x = regions.key, of its region, pop, zone

SELECT age, COUNT(*) FROM people JOIN visits USING (person_id) GROUP BY age
--! 1:73 'age' is in several tables; write table.column

SELECT COUNT(*) FROM people, LATERAL (SELECT 1) x
--! 1:46 rows come from a table or a subquery; functions, files and sets are not supported

SELECT COUNT(*) FROM people, UNNEST(ARRAY[1, 2]) AS x
--! 1:42 arrays, maps and structs are not supported

SELECT ARRAY[ARRAY[ARRAY[1]]] FROM people
--! 1:13 arrays, maps and structs are not supported

SELECT COUNT(*) FROM people WHERE {'a': 1} = 1
--! 1:35 arrays, maps and structs are not supported

SELECT SUM(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(joined)))))))))))))) FROM people
--! 1:8 a sum is of numbers; this is a date

SELECT SUM(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(1))))))))))) FROM people
--! 1:12 there is no function DECIMAL

SELECT SUM(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(1))))))))))) FROM people
--! 1:12 STRUCT is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE CAST(age AS ARRAY<ARRAY<ARRAY<INT>>>) = 1
--! 1:47 CAST is to INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR

SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM people) AS x
--! 1:30 a subquery with aggregates is grouped by the unit

SELECT COUNT(*) FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--! 1:73 a subquery is grouped by the unit, and may have further keys

SELECT COUNT(*) FROM (SELECT DISTINCT age FROM people) AS x
--! 1:39 SELECT with DISTINCT is not supported

SELECT COUNT(*) FROM (SELECT age FROM people LIMIT 1) AS x
--! 1:52 SELECT with LIMIT is not supported

SELECT COUNT(*) FROM (SELECT age FROM people ORDER BY age) AS x
--! 1:55 SELECT with ORDER is not supported

SELECT COUNT(*) FROM (SELECT age FROM people UNION SELECT age FROM people) AS x
--! 1:30 rows come from a table or a subquery; functions, files and sets are not supported

SELECT COUNT(*) FROM (SELECT age + 1 FROM people) AS x
--! 1:30 name this column of the subquery: ... AS name

SELECT COUNT(*) FROM (SELECT age, spend AS age FROM people) AS x
--! 1:35 two columns of the subquery are called 'age'

SELECT COUNT(*) FROM (SELECT person_id, age FROM people GROUP BY person_id) AS x
--! 1:41 'age' is not grouped by; sum it, count it, or group by it

SELECT COUNT(*) FROM (SELECT person_id, MEDIAN(age) AS m FROM people GROUP BY person_id) AS x
--! 1:41 of the rows of one unit there is COUNT, SUM, AVG, MIN and MAX

SELECT COUNT(*) FROM (SELECT person_id, SUM(free) AS m FROM people GROUP BY person_id) AS x
--! 1:41 'free' has no bounds: put lower and upper in the schema, buy them with tacit bounds, or CLAMP the values

SELECT COUNT(DISTINCT person_id) FROM (SELECT age FROM people) AS x
--! 1:23 there is no column 'person_id' here; there are age

WITH RECURSIVE a AS (SELECT * FROM a) SELECT COUNT(*) FROM a
--! 1:16 WITH with RECURSIVE is not supported

WITH a AS (SELECT * FROM b), b AS (SELECT * FROM people) SELECT COUNT(*) FROM b
--! 1:26 there is no table 'b'; there are people, visits, regions

WITH a (x) AS (SELECT age FROM people) SELECT AVG(x) FROM a
--! 1:6 TABLE ALIAS with COLUMNS is not supported

WITH a AS (DELETE FROM people) SELECT COUNT(*) FROM people
--! 1:6 a common table expression is a SELECT

SELECT COUNT(*) INTO x FROM people
--! 1:22 SELECT with INTO is not supported

SELECT COUNT(*) FROM people FOR UPDATE
--! 1:8 SELECT with LOCKS is not supported

INSERT INTO people VALUES (1)
--! 1:1 a question begins with SELECT or WITH

DROP TABLE people
--! 1:1 a question begins with SELECT or WITH

UPDATE people SET age = 1
--! 1:1 a question begins with SELECT or WITH

COPY people TO 'x'
--! 1:1 a question begins with SELECT or WITH

ATTACH 'x' AS y
--! 1:1 a question begins with SELECT or WITH

PRAGMA version
--! 1:1 a question begins with SELECT or WITH

EXPLAIN SELECT COUNT(*) FROM people
--! 1:1 a question begins with SELECT or WITH

CALL f()
--! 1:1 a question begins with SELECT or WITH

(SELECT COUNT(*) FROM people)
--! 1:1 a question begins with SELECT or WITH

VALUES (1)
--! 1:1 a question begins with SELECT or WITH

FROM people
--! 1:1 a question begins with SELECT or WITH

SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people
--! 1:28 a question is one statement

SELECT COUNT(*) FROM people WHERE
--! 1:29 this is not SQL that can be read, near 'WHERE'

SELECT COUNT(* FROM people
--! 1:16 this is not SQL that can be read, near 'FROM'

SELECT COUNT(*) FROM people WHERE note = 'open
--! 1:47 a quote or a comment is not closed

SELECT COUNT(*) FROM people /* open
--! 1:36 a quote or a comment is not closed

SELECT COUNT(*)) FROM people
--! 1:16 this is not SQL that can be read, near ')'

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = -1) COUNT(*) FROM people
--! 1:53 an option is a number

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 'x') COUNT(*) FROM people
--! 1:53 an option is a number

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 2) COUNT(*) FROM people
--! 1:51 delta must be strictly between 0 and 1, also as a float, and at least 1e-300; got '2'

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (magic = 1) COUNT(*) FROM people
--! 1:43 there is no option 'magic', or it is twice here

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, epsilon = 1) COUNT(*) FROM people
--! 1:56 there is no option 'epsilon', or it is twice here

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 COUNT(*) FROM people
--! 1:55 options are written (epsilon = 1, delta = 1e-6)

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1.5) COUNT(*) FROM people
--! 1:68 groups must be a whole number from 1 to 10^9; got '1.5'

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 2) COUNT(*) FROM people
--! 1:1 max_rows_contributed is at least 10, as the schema of people fixes it there

SELECT WITH MAGIC OPTIONS (epsilon = 1) COUNT(*) FROM people
--! 1:13 SELECT WITH is followed by DIFFERENTIAL_PRIVACY or ANONYMIZATION

SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) * FROM people) AS x
--! 1:30 only the outermost SELECT takes options

SELECT region,
       COUNT(*) AS n,
       median(age) over () AS m
FROM people
GROUP BY region
--! 3:8 window functions are not supported; use GROUP BY, and compute shares from the answer, free

SELECT WITH DIFFERENTIAL_PRIVACY
  OPTIONS (epsilon = 1) region,
  height, COUNT(*)
FROM people GROUP BY region
--! 3:3 there is no column 'height' here; there are person_id, age, spend, region, joined, note, member, free; the answer has region

SELECT AVG(age) AS m FROM people ORDER BY m NULLS FIRST
--! 1:43 missing values stand last; NULLS FIRST is not supported

SELECT COUNT(*) AS n FROM people WHERE member = TRUE IS NULL
--! 1:54 a comparison and IS are side by side; put one of them in brackets

SELECT COUNT(*) AS n FROM people WHERE member IS NULL = TRUE
--! 1:55 a comparison and IS are side by side; put one of them in brackets

SELECT COUNT(*) AS n FROM people WHERE member = age BETWEEN 1 AND 2 IS NULL
--! 1:69 a comparison and IS are side by side; put one of them in brackets

SELECT COUNT(*) AS n FROM people HAVING COUNT(*) > 5 IS NULL
--! 1:54 a comparison and IS are side by side; put one of them in brackets

WITH a AS (SELECT * FROM people), A AS (SELECT * FROM people WHERE age > 3) SELECT COUNT(*) AS n FROM a
--! 1:35 two common table expressions are called 'A'

SELECT COUNT(*) AS n FROM people GROUP BY
--! 1:8 GROUP BY is followed by what to group by

SELECT COUNT(*) AS n, FROM people
--! 1:21 a comma stands between two values

SELECT , COUNT(*) AS n FROM people
--! 1:8 a comma stands between two values

SELECT region, COUNT(*) AS n FROM people GROUP BY region,
--! 1:57 a comma stands between two values

SELECT COUNT(*) AS n,, AVG(age) FROM people
--! 1:21 a comma stands between two values

SELECT COUNT(*) AS n FROM people WHERE age IN (1, 2,)
--! 1:52 a comma stands between two values

SELECT COUNT(*) AS n FROM people WHERE member IS DISTINCT FROM member = TRUE
--! 1:71 a comparison and IS are side by side; put one of them in brackets

SELECT AVG(free + 1) AS m FROM people
--! 1:8 'free' has no bounds: put lower and upper in the schema, buy them with tacit bounds, or CLAMP the values

SELECT COUNT(*) FROM people WHERE joined < NOW()
--! 1:44 there is no function NOW; write the date itself

SELECT COUNT(*) FROM people WHERE when > 3
--! 1:35 this is not SQL that can be read, near 'when' (a reserved word: write "when" in double quotes if it is a column)

SELECT COUNT(*) FROM people WHERE note = N'a' N'when'
--! 1:47 this is not SQL that can be read, near 'when'

SELECT COUNT(*) FROM people WHERE region IN ('north', 'east')
--! 1:55 'east' is none of the labels 'north', 'south'

SELECT COUNT(*) FROM people WHERE joined > '01/01/2020'
--! 1:44 a date is written like 2020-12-31; got '01/01/2020'

SELECT LN(age), COUNT(*) FROM people GROUP BY 1
--! 1:8 LN is not on the list of what can be asked; `tacit docs tables` lists what SQL is understood

SELECT COUNT(*) FROM people WHERE age IS DISTINCT FROM 1 IN (2, 3)
--! 1:58 a comparison and IS are side by side; put one of them in brackets

SELECT COUNT(*) FROM people WHERE joined + INTERVAL '1' DAY TO HOUR > '2020-01-01'
--! 1:53 an interval is a number of days, weeks, hours, minutes or seconds

SELECT CAST(AVG(age) AS DECIMAL(10, 2)) FROM people
--! 1:13 what is released can be cast to INTEGER or DOUBLE; its digits are for ROUND

SELECT region, COUNT(*) FROM people GROUP BY region HAVING region = 'nowhere'
--! 1:69 'nowhere' is none of the labels 'north', 'south'

SELECT region, COUNT(*) FROM people GROUP BY region HAVING region LIKE 'n%'
--! 1:60 LIKE is for single rows: use it in WHERE, or within an aggregate

SELECT COUNT(*) FROM people WHERE region = north
--! 1:44 there is no column 'north' here; there are person_id, age, spend, region, joined, note, member, free; text stands in single quotes: 'north'

SELECT SUM(age // 10) FROM people
--! 1:17 this is not SQL that can be read, near '/' (x DIV y is the whole quotient)

SELECT COUNT(*) FROM people WHERE SORT_ARRAY(1, SORT_ARRAY(1, SORT_ARRAY(1, SORT_ARRAY(1, 2)))) = 1
--! 1:35 there is no function SORT_ARRAY
