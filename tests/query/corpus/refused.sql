SELECT age FROM people
--! 1:8 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT person_id FROM people
--! 1:8 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT * FROM people
--! 1:8 Single rows are people's, and are not shown. * can stand in COUNT(*), in a subquery, or with LIMIT 0.

SELECT people.* FROM people
--! 1:8 Single rows are people's, and are not shown. * can stand in COUNT(*), in a subquery, or with LIMIT 0.

SELECT nosuch FROM people
--! 1:8 There is no column 'nosuch' here; the columns are person_id, age, spend, region, joined, note, member, free.

SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY nosuch
--! 1:67 There is no column 'nosuch' here; the columns are person_id, age, spend, region, joined, note, member, free. The columns of the answer are region, n.

SELECT age, COUNT(*) FROM people
--! 1:8 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT region, age, COUNT(*) FROM people GROUP BY region
--! 1:16 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT age + 1 FROM people GROUP BY region
--! 1:8 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT 1 FROM people
--! 1:8 The question has no aggregate. Add COUNT(*) or another one.

SELECT COUNT(*) + age FROM people
--! 1:19 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT DISTINCT ON (age) COUNT(*) FROM people
--! 1:21 SELECT DISTINCT ON is not supported. Use GROUP BY.

SELECT COUNT(DISTINCT person_id, age) FROM people
--! 1:23 Only one value can be counted DISTINCT. Use GROUP BY to count combinations.

SELECT COUNT(DISTINCT "Person_ID") FROM people
--! 1:23 There is no column 'Person_ID' here; the columns are person_id, age, spend, region, joined, note, member, free.

SELECT COUNT(DISTINCT nosuch) FROM people
--! 1:23 There is no column 'nosuch' here; the columns are person_id, age, spend, region, joined, note, member, free.

SELECT COUNT() FROM people
--! 1:8 A value is missing here.

SELECT SUM(DISTINCT spend) FROM people
--! 1:21 DISTINCT is supported only in COUNT(DISTINCT unit).

SELECT SUM(person_id) FROM people
--! 1:12 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT MAX(person_id) FROM people
--! 1:12 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT SUM(region) FROM people
--! 1:8 A sum needs numbers; 'region' is a category.

SELECT SUM(note) FROM people
--! 1:8 A sum needs numbers; 'note' is text.

SELECT SUM(free) FROM people
--! 1:8 'free' has no bounds. Put lower and upper in the schema, buy bounds with `tacit bounds`, or CLAMP the values.

SELECT MEDIAN(region) FROM people
--! 1:8 MEDIAN needs numbers or dates; 'region' is a category.

SELECT MODE(note) FROM people
--! 1:8 The values of text are not public. List them in the schema. Or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k.

SELECT TOP_K(region, 3) FROM people
--! 1:8 k must be from 1 to 2; the column has 2 values.

SELECT TOP_K(age, 0) FROM people
--! 1:19 The k of TOP_K must be a whole number from 1 to 100.

SELECT 1 + TOP_K(age, 2) FROM people
--! 1:12 TOP_K(x, k) gives several columns and must stand alone in the SELECT.

SELECT QUANTILE(age, 1.5) FROM people
--! 1:22 The rank of a quantile must be strictly between 0 and 1, such as 0.01 or 0.99.

SELECT QUANTILE(age, 0) FROM people
--! 1:22 The rank of a quantile must be strictly between 0 and 1, such as 0.01 or 0.99.

SELECT COUNT(*) DIV 2 FROM people
--! 1:8 DIV works on single rows. Use it in WHERE, or inside an aggregate.

SELECT QUANTILE(age, age) FROM people
--! 1:22 The rank of a quantile must be a number.

SELECT PERCENTILE_CONT(0.5) FROM people
--! 1:8 Write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), or QUANTILE(x, q).

SELECT STDEV(age) FROM people
--! 1:8 STDEV is not supported. Use STDDEV_POP, of the population.

SELECT ANY_VALUE(age) FROM people
--! 1:8 This would list values of single rows, which are people's. Count them instead.

SELECT ARRAY_AGG(age) FROM people
--! 1:8 This would list values of single rows, which are people's. Count them instead.

SELECT STRING_AGG(note, ',') FROM people
--! 1:19 This would list values of single rows, which are people's. Count them instead.

SELECT SUM(age ORDER BY spend) FROM people
--! 1:12 ORDER is not supported. `tacit docs tables` lists the SQL that is.

SELECT SUM(AVG(age)) FROM people
--! 1:12 An aggregate cannot stand here.

SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM people
--! 1:8 A question must be one SELECT; set operations and other statements are not supported.

SELECT COUNT(*) FROM people EXCEPT SELECT COUNT(*) FROM people
--! 1:8 A question must be one SELECT; set operations and other statements are not supported.

SELECT COUNT(*) FROM people QUALIFY 1 = 1
--! 1:37 SELECT with QUALIFY is not supported.

SELECT COUNT(*) FROM people GROUP BY person_id
--! 1:38 Groups by the unit are single people. Group by the unit in a subquery instead.

SELECT COUNT(*) FROM people GROUP BY ROLLUP (region)
--! 1:46 ROLLUP is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people GROUP BY GROUPING SETS ((region), ())
--! 1:54 GROUPING SETS is not supported. `tacit docs tables` lists the SQL that is.

SELECT age + COUNT(*) FROM people GROUP BY ALL
--! 1:8 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT region, COUNT(*) FROM people GROUP BY ALL region
--! 1:50 GROUP with ALL is not supported.

SELECT COUNT(*) FROM people GROUP BY 7
--! 1:38 GROUP BY 7 must be a column from 1 to 1.

SELECT COUNT(*) FROM people GROUP BY 0000000001
--! 1:38 GROUP BY 0000000001 must be a column from 1 to 1.

SELECT COUNT(*) FROM people GROUP BY COUNT(*)
--! 1:38 An aggregate cannot stand here.

SELECT free, COUNT(*) FROM people GROUP BY free
--! 1:44 A key needs declared bounds. Declare them in the schema, or CLAMP the values.

SELECT spend, age, COUNT(*) FROM people GROUP BY spend, age
--! 1:57 A question may have at most 1000000 groups, not 7744121. Group by fewer keys or wider bins.

SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM people)
--! 1:35 Only the unit can be IN a subquery: unit IN (SELECT unit FROM ... WHERE ...).

SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)
--! 1:50 EXISTS needs the unit of its rows made equal to that of the rows outside: EXISTS (SELECT 1 FROM t AS a WHERE a.unit = b.unit AND ...), with different names for the two tables.

SELECT COUNT(*) FROM people WHERE age = (SELECT MAX(age) FROM people)
--! 1:49 A subquery can stand only after FROM or JOIN, and in WHERE as unit IN (SELECT unit ...) or EXISTS, joined to other conditions by AND.

SELECT (SELECT COUNT(*) FROM people) FROM people
--! 1:16 A subquery can stand only after FROM or JOIN, and in WHERE as unit IN (SELECT unit ...) or EXISTS, joined to other conditions by AND.

SELECT COUNT(*) FROM people WHERE COUNT(*) > 3
--! 1:35 An aggregate cannot stand here.

SELECT COUNT(*) FROM people WHERE age
--! 1:35 A condition must be true or false, such as age >= 18.

SELECT COUNT(*) FROM people WHERE age = 'old'
--! 1:35 Cannot combine a number and text. Write numbers, TRUE and FALSE without quotes.

SELECT COUNT(*) FROM people WHERE region = 'east'
--! 1:44 'east' is not one of the labels 'north', 'south'.

SELECT COUNT(*) FROM people WHERE region < 'north'
--! 1:35 Text and categories have no public order; use = or IN.

SELECT COUNT(*) FROM people WHERE note > 'a'
--! 1:35 Text and categories have no public order; use = or IN.

SELECT COUNT(*) FROM people WHERE note LIKE 'a_'
--! 1:35 A pattern on text may use only %, neither _ nor escapes.

SELECT COUNT(*) FROM people WHERE note LIKE region
--! 1:45 The pattern of LIKE must be a constant text.

SELECT COUNT(*) FROM people WHERE note ILIKE 'a%'
--! 1:35 LOWER, UPPER and ILIKE need a category, whose labels are public; 'note' is text.

SELECT COUNT(*) FROM people WHERE LOWER(note) = 'a'
--! 1:35 LOWER, UPPER and ILIKE need a category, whose labels are public; 'note' is text.

SELECT SUM(POWER(age, 0.5)) FROM people
--! 1:12 The exponent of a power must be a constant whole number from 1 to 10.

SELECT COUNT(POWER(region, 1)) FROM people
--! 1:14 Arithmetic needs numbers; 'region' is a category.

SELECT SUM(POWER(age, age)) FROM people
--! 1:12 The exponent of a power must be a constant whole number from 1 to 10.

SELECT SUM(POWER(age, 10)) FROM people
--! 1:12 Values could exceed 64 bits here. Declare narrower bounds, or CLAMP the values first.

SELECT COUNT(*) FROM people WHERE REGEXP_LIKE(note, '.*')
--! 1:35 A regular expression needs a category, whose labels are public; 'note' is text.

SELECT COUNT(*) FROM people WHERE note ~ 'a'
--! 1:35 A regular expression needs a category, whose labels are public; 'note' is text.

SELECT COUNT(*) FROM people WHERE note LIKE 'a!%' ESCAPE '!'
--! 1:35 ESCAPE is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people WHERE person_id = 7
--! 1:35 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT COUNT(*) FROM people WHERE height > 3
--! 1:35 There is no column 'height' here; the columns are person_id, age, spend, region, joined, note, member, free.

SELECT COUNT(*) FROM people WHERE other.age > 3
--! 1:35 There is no table 'other' here; the tables are people.

SELECT COUNT(*) FROM people WHERE main.people.age > 3
--! 1:35 There is no schema 'main'; the tables are in public, as public.people.

SELECT COUNT(*) FROM people WHERE age > ?
--! 1:35 Parameters are not supported. Write the value.

SELECT COUNT(*) FROM people WHERE age > :limit
--! 1:35 Parameters are not supported. Write the value.

SELECT COUNT(*) FROM people WHERE age > @limit
--! 1:35 Parameters are not supported. Write the value.

SELECT COUNT(*) FROM people WHERE age > $1
--! 1:41 There is no column '$1' here; the columns are person_id, age, spend, region, joined, note, member, free.

SELECT COUNT(*) FROM people WHERE RANDOM() < 0.5
--! 1:35 RANDOM is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people WHERE region SIMILAR TO 'n%'
--! 1:35 SIMILAR TO is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people WHERE joined > '2020-13-01'
--! 1:44 Write a date like 2020-12-31; got '2020-13-01'.

SELECT COUNT(*) FROM people WHERE age > 9999999999999999999999999
--! 1:41 Values could exceed 64 bits here. Declare narrower bounds, or CLAMP the values first.

SELECT COUNT(*) FROM people WHERE age % 0 = 1
--! 1:35 The divisor of a remainder must be a positive constant.

SELECT COUNT(*) FROM people WHERE age IN ()
--! 1:35 A list must have 1 to 1000 values.

SELECT COUNT(*) FROM people WHERE error(note) = 1
--! 1:35 There is no function ERROR.

SELECT COUNT(*) FROM people WHERE getenv('HOME') = note
--! 1:35 There is no function GETENV.

SELECT COUNT(*) FROM people WHERE age & 1 = 1
--! 1:35 & is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people WHERE note || 'a' = 'ba'
--! 1:35 || needs categories, whose labels are public; 'note' is text.

SELECT COUNT(*) FROM people WHERE CAST(note AS INT) = 1
--! 1:40 CAST cannot turn text into integer.

SELECT COUNT(*) FROM people WHERE CAST(age AS STRUCT<a INT>) = 1
--! 1:47 CAST needs INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR as its type.

SELECT SUM(age * 1e300) FROM people
--! 1:18 Values could exceed 64 bits here. Declare narrower bounds, or CLAMP the values first.

SELECT SUM(free * free) FROM people
--! 1:12 Values could exceed 64 bits here. Declare narrower bounds, or CLAMP the values first.

SELECT SUM(age + 1e-60) FROM people
--! 1:12 Values could exceed 64 bits here. Declare narrower bounds, or CLAMP the values first.

SELECT COUNT(*) FROM people LIMIT 1.5
--! 1:35 LIMIT must be a whole number of at least 0.

SELECT COUNT(*) FROM people ORDER BY age
--! 1:38 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT COUNT(*) AS n FROM people ORDER BY n NULLS LAST, 2
--! 1:57 ORDER BY needs a column from 1 to 1.

SELECT COUNT(*) AS n FROM people WHERE joined * INTERVAL '2' DAY > DATE '2020-01-01'
--! 1:58 INTERVAL is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) AS n FROM people HAVING age > 3
--! 1:41 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n > 3 AND AVG(age) > '10'
--! 1:75 Cannot combine a number and text. Write numbers, TRUE and FALSE without quotes.

SELECT COUNT(*) > '200' AS many FROM people
--! 1:8 Cannot combine a number and text. Write numbers, TRUE and FALSE without quotes.

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING region IN ('north', 5)
--! 1:65 Cannot combine a number and text. Write numbers, TRUE and FALSE without quotes.

SELECT COALESCE(AVG(age), 'none') AS m FROM people
--! 1:8 Cannot combine a number and text. Write numbers, TRUE and FALSE without quotes.

SELECT MEDIAN(joined) > '2020-1-9' AS late FROM people
--! 1:25 Write a date like 2020-12-31; got '2020-1-9'.

SELECT note, MEDIAN(joined) = note AS same, COUNT(*) AS n FROM people GROUP BY note
--! 1:14 Cannot combine a date and text.

SELECT member, COUNT(*) AS n FROM people GROUP BY member HAVING member = 'true'
--! 1:65 Cannot combine a boolean and text. Write numbers, TRUE and FALSE without quotes.

SELECT member, member + 1 AS more, COUNT(*) AS n FROM people GROUP BY member
--! 1:16 Arithmetic on the answer needs numbers; this is a boolean.

SELECT region, -region AS less, COUNT(*) AS n FROM people GROUP BY region
--! 1:17 Arithmetic on the answer needs numbers; this is text.

SELECT region, CAST(region AS DOUBLE) AS x, COUNT(*) AS n FROM people GROUP BY region
--! 1:21 Only numbers and conditions can be cast here.

SELECT NOT COUNT(*) AS b FROM people
--! 1:12 A condition must be true or false, such as n >= 18; this is a number.

SELECT COUNT(*) AND TRUE AS b FROM people
--! 1:8 A condition must be true or false, such as n >= 18; this is a number.

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n
--! 1:65 A condition must be true or false, such as n >= 18; this is a number.

SELECT CASE WHEN COUNT(*) THEN 1 ELSE 2 END AS x FROM people
--! 1:18 A condition must be true or false, such as n >= 18; this is a number.

SELECT COUNT(*) AS n, SUM(age) AS n FROM people
--! 1:23 Two columns of the answer are called 'n'. Rename one of them.

SELECT COUNT(*) AS n, foo(COUNT(*)) FROM people
--! 1:23 There is no function FOO.

SELECT COUNT(*) FROM nowhere
--! 1:22 There is no table 'nowhere'; the tables are people, visits, regions.

SELECT COUNT(*) FROM main.people
--! 1:22 There is no schema 'main'; the tables are in public, as public.people.

SELECT COUNT(*) FROM 'people.parquet'
--! 1:22 There is no table 'people.parquet'; the tables are people, visits, regions.

SELECT COUNT(*) FROM read_parquet('people.parquet')
--! 1:22 FROM needs a table or a subquery; functions, files and sets are not supported.

SELECT COUNT(*) FROM people TABLESAMPLE (10)
--! 1:42 TABLESAMPLE is not supported.

SELECT COUNT(*) FROM regions
--! 1:22 A public table can only be joined to a private one.

SELECT COUNT(*)
--! 1:8 A question needs a table: SELECT ... FROM ...

SELECT COUNT(*) FROM people, visits
--! 1:30 A join needs USING one column, or ON one column = another.

SELECT COUNT(*) FROM people CROSS JOIN visits
--! 1:40 CROSS JOIN is not supported. Use JOIN, or LEFT JOIN with a public table.

SELECT COUNT(*) FROM people OUTER JOIN regions ON people.region = regions.region
--! 1:40 OUTER JOIN is not supported. Use JOIN, or LEFT JOIN with a public table.

SELECT COUNT(*) FROM people NATURAL JOIN visits
--! 1:42 NATURAL JOIN is not supported. Name the columns: JOIN ... ON, or USING.

SELECT COUNT(*) FROM people LEFT JOIN visits USING (person_id)
--! 1:39 Private tables can be joined by JOIN only, not by LEFT JOIN.

SELECT COUNT(*) FROM people FULL JOIN regions USING (region)
--! 1:39 FULL JOIN is not supported. Use JOIN, or LEFT JOIN with a public table.

SELECT COUNT(*) FROM people JOIN visits ON people.age = visits.age
--! 1:34 Private tables can be joined only on their units.

SELECT COUNT(*) FROM people JOIN visits ON people.person_id = visits.age
--! 1:34 Private tables can be joined only on their units.

SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id = v.person_id OR 1 = 1
--! 1:36 A join needs USING one column, or ON one column = another.

SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id < v.person_id
--! 1:36 A join needs USING one column, or ON one column = another.

SELECT COUNT(*) FROM people JOIN regions ON people.region = regions.zone
--! 1:34 key must be unique in the column zone of the public table regions; got 'a'

SELECT COUNT(*) FROM people JOIN regions ON people.region = people.region
--! 1:34 Join a public table ON x = regions.key, where key is one of region, pop, zone.

SELECT age, COUNT(*) FROM people JOIN visits USING (person_id) GROUP BY age
--! 1:73 'age' is a column of several tables. Write table.column.

SELECT COUNT(*) FROM people, LATERAL (SELECT 1) x
--! 1:46 FROM needs a table or a subquery; functions, files and sets are not supported.

SELECT COUNT(*) FROM people, UNNEST(ARRAY[1, 2]) AS x
--! 1:42 Arrays, maps and structs are not supported.

SELECT ARRAY[ARRAY[ARRAY[1]]] FROM people
--! 1:13 Arrays, maps and structs are not supported.

SELECT COUNT(*) FROM people WHERE {'a': 1} = 1
--! 1:35 Arrays, maps and structs are not supported.

SELECT SUM(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(DATE(joined)))))))))))))) FROM people
--! 1:8 A sum needs numbers; 'joined' is a date.

SELECT SUM(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(DECIMAL(1))))))))))) FROM people
--! 1:12 There is no function DECIMAL.

SELECT SUM(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(STRUCT(1))))))))))) FROM people
--! 1:12 STRUCT is not supported. `tacit docs tables` lists the SQL that is.

SELECT COUNT(*) FROM people WHERE CAST(age AS ARRAY<ARRAY<ARRAY<INT>>>) = 1
--! 1:47 CAST needs INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR as its type.

SELECT COUNT(*) FROM (SELECT DISTINCT age FROM people) AS x
--! 1:39 SELECT with DISTINCT is not supported.

SELECT COUNT(*) FROM (SELECT age FROM people LIMIT 1) AS x
--! 1:52 SELECT with LIMIT is not supported.

SELECT COUNT(*) FROM (SELECT age FROM people ORDER BY age) AS x
--! 1:55 SELECT with ORDER is not supported.

SELECT COUNT(*) FROM (SELECT age FROM people UNION SELECT age FROM people) AS x
--! 1:30 FROM needs a table or a subquery; functions, files and sets are not supported.

SELECT COUNT(*) FROM (SELECT age + 1 FROM people) AS x
--! 1:30 Name this column of the subquery: ... AS name.

SELECT COUNT(*) FROM (SELECT age, spend AS age FROM people) AS x
--! 1:35 Two columns of the subquery are called 'age'. Rename one of them.

SELECT COUNT(*) FROM (SELECT person_id, age FROM people GROUP BY person_id) AS x
--! 1:41 'age' is not a key of this GROUP BY. Sum it, count it, or group by it.

SELECT COUNT(*) FROM (SELECT person_id, MEDIAN(age) AS m FROM people GROUP BY person_id) AS x
--! 1:41 A subquery can use only COUNT, SUM, AVG, MIN and MAX.

SELECT COUNT(*) FROM (SELECT person_id, SUM(free) AS m FROM people GROUP BY person_id) AS x
--! 1:41 'free' has no bounds. Put lower and upper in the schema, buy bounds with `tacit bounds`, or CLAMP the values.

SELECT COUNT(DISTINCT person_id) FROM (SELECT age FROM people) AS x
--! 1:23 There is no column 'person_id' here; the columns are age.

WITH RECURSIVE a AS (SELECT * FROM a) SELECT COUNT(*) FROM a
--! 1:16 WITH with RECURSIVE is not supported.

WITH a AS (SELECT * FROM b), b AS (SELECT * FROM people) SELECT COUNT(*) FROM b
--! 1:26 There is no table 'b'; the tables are people, visits, regions.

WITH a (x) AS (SELECT age FROM people) SELECT AVG(x) FROM a
--! 1:6 TABLE ALIAS with COLUMNS is not supported.

WITH a AS (DELETE FROM people) SELECT COUNT(*) FROM people
--! 1:6 A common table expression must be a SELECT.

SELECT COUNT(*) INTO x FROM people
--! 1:22 SELECT with INTO is not supported.

SELECT COUNT(*) FROM people FOR UPDATE
--! 1:8 SELECT with LOCKS is not supported.

INSERT INTO people VALUES (1)
--! 1:1 A question must begin with SELECT or WITH.

DROP TABLE people
--! 1:1 A question must begin with SELECT or WITH.

UPDATE people SET age = 1
--! 1:1 A question must begin with SELECT or WITH.

COPY people TO 'x'
--! 1:1 A question must begin with SELECT or WITH.

ATTACH 'x' AS y
--! 1:1 A question must begin with SELECT or WITH.

PRAGMA version
--! 1:1 A question must begin with SELECT or WITH.

EXPLAIN SELECT COUNT(*) FROM people
--! 1:1 A question must begin with SELECT or WITH.

CALL f()
--! 1:1 A question must begin with SELECT or WITH.

(SELECT COUNT(*) FROM people)
--! 1:1 A question must begin with SELECT or WITH.

VALUES (1)
--! 1:1 A question must begin with SELECT or WITH.

FROM people
--! 1:1 A question must begin with SELECT or WITH.

SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people
--! 1:28 A question must be a single statement.

SELECT COUNT(*) FROM people WHERE
--! 1:29 This SQL cannot be parsed near 'WHERE'.

SELECT COUNT(* FROM people
--! 1:16 This SQL cannot be parsed near 'FROM'.

SELECT COUNT(*) FROM people WHERE note = 'open
--! 1:47 A quote or a comment is not closed.

SELECT COUNT(*) FROM people /* open
--! 1:36 A quote or a comment is not closed.

SELECT COUNT(*)) FROM people
--! 1:16 This SQL cannot be parsed near ')'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = -1) COUNT(*) FROM people
--! 1:53 The value of an option must be a number.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 'x') COUNT(*) FROM people
--! 1:53 The value of an option must be a number.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 2) COUNT(*) FROM people
--! 1:51 delta must be strictly between 0 and 1, also as a float, and at least 1e-300; got '2'

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (magic = 1) COUNT(*) FROM people
--! 1:43 There is no option 'magic', or it is given twice.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, epsilon = 1) COUNT(*) FROM people
--! 1:56 There is no option 'epsilon', or it is given twice.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 COUNT(*) FROM people
--! 1:55 Write options like (epsilon = 1, delta = 1e-6).

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1.5) COUNT(*) FROM people
--! 1:68 groups must be a whole number from 1 to 10^9; got '1.5'

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 2) COUNT(*) FROM people
--! 1:1 max_rows_contributed must be at least 10, which the schema of people sets.

SELECT WITH MAGIC OPTIONS (epsilon = 1) COUNT(*) FROM people
--! 1:13 SELECT WITH must be followed by DIFFERENTIAL_PRIVACY or ANONYMIZATION.

SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) * FROM people) AS x
--! 1:30 Only the outermost SELECT may have options.

SELECT WITH DIFFERENTIAL_PRIVACY
  OPTIONS (epsilon = 1) region,
  height, COUNT(*)
FROM people GROUP BY region
--! 3:3 There is no column 'height' here; the columns are person_id, age, spend, region, joined, note, member, free. The columns of the answer are region.

SELECT COUNT(*) AS n FROM people WHERE member = TRUE IS NULL
--! 1:54 A comparison and IS stand side by side. Put one of them in brackets.

SELECT COUNT(*) AS n FROM people WHERE member IS NULL = TRUE
--! 1:55 A comparison and IS stand side by side. Put one of them in brackets.

SELECT COUNT(*) AS n FROM people WHERE member = age BETWEEN 1 AND 2 IS NULL
--! 1:69 A comparison and IS stand side by side. Put one of them in brackets.

SELECT COUNT(*) AS n FROM people HAVING COUNT(*) > 5 IS NULL
--! 1:54 A comparison and IS stand side by side. Put one of them in brackets.

WITH a AS (SELECT * FROM people), A AS (SELECT * FROM people WHERE age > 3) SELECT COUNT(*) AS n FROM a
--! 1:35 Two common table expressions are called 'A'.

SELECT COUNT(*) AS n FROM people GROUP BY
--! 1:8 GROUP BY needs at least one key.

SELECT COUNT(*) AS n, FROM people
--! 1:21 A comma must stand between two values.

SELECT , COUNT(*) AS n FROM people
--! 1:8 A comma must stand between two values.

SELECT region, COUNT(*) AS n FROM people GROUP BY region,
--! 1:57 A comma must stand between two values.

SELECT COUNT(*) AS n,, AVG(age) FROM people
--! 1:21 A comma must stand between two values.

SELECT COUNT(*) AS n FROM people WHERE age IN (1, 2,)
--! 1:52 A comma must stand between two values.

SELECT COUNT(*) AS n FROM people WHERE member IS DISTINCT FROM member = TRUE
--! 1:71 A comparison and IS stand side by side. Put one of them in brackets.

SELECT AVG(free + 1) AS m FROM people
--! 1:8 'free' has no bounds. Put lower and upper in the schema, buy bounds with `tacit bounds`, or CLAMP the values.

SELECT COUNT(*) FROM people WHERE joined < NOW()
--! 1:44 NOW cannot stand here. It would make a new question of every second. Write CURRENT_DATE, or DATE_TRUNC('day', NOW()).

SELECT COUNT(*) FROM people WHERE when > 3
--! 1:35 This SQL cannot be parsed near 'when'. It is a reserved word: write "when" in double quotes if it is a column.

SELECT COUNT(*) FROM people WHERE note = N'a' N'when'
--! 1:47 This SQL cannot be parsed near 'when'.

SELECT COUNT(*) FROM people WHERE region IN ('north', 'east')
--! 1:55 'east' is not one of the labels 'north', 'south'.

SELECT COUNT(*) FROM people WHERE joined > '01/01/2020'
--! 1:44 Write a date like 2020-12-31; got '01/01/2020'.

SELECT COUNT(*) FROM people WHERE age IS DISTINCT FROM 1 IN (2, 3)
--! 1:58 A comparison and IS stand side by side. Put one of them in brackets.

SELECT COUNT(*) FROM people WHERE joined + INTERVAL '1' DAY TO HOUR > '2020-01-01'
--! 1:53 An interval must be like INTERVAL '3 months' or INTERVAL '1 day 12 hours'.

SELECT CAST(AVG(age) AS DECIMAL(10, 2)) FROM people
--! 1:13 A released column can be cast only to INTEGER or DOUBLE. ROUND takes digits.

SELECT region, COUNT(*) FROM people GROUP BY region HAVING region = 'nowhere'
--! 1:69 'nowhere' is not one of the labels 'north', 'south'.

SELECT region, COUNT(*) FROM people GROUP BY region HAVING region LIKE 'n%'
--! 1:60 LIKE works on single rows. Use it in WHERE, or inside an aggregate.

SELECT COUNT(*) FROM people WHERE region = north
--! 1:44 There is no column 'north' here; the columns are person_id, age, spend, region, joined, note, member, free. Write text in single quotes: 'north'.

SELECT SUM(age // 10) FROM people
--! 1:17 This SQL cannot be parsed near '/'. Write x DIV y for the whole quotient.

SELECT COUNT(*) FROM people WHERE SORT_ARRAY(1, SORT_ARRAY(1, SORT_ARRAY(1, SORT_ARRAY(1, 2)))) = 1
--! 1:35 There is no function SORT_ARRAY.

SELECT MAX(region) FROM people
--! 1:8 MAX is computed as a quantile and needs numbers or dates; 'region' is a category.

SELECT MIN(note) FROM people
--! 1:8 MIN is computed as a quantile and needs numbers or dates; 'note' is text.

SELECT region, COUNT(*) OVER (PARTITION BY region) FROM people
--! 1:8 'region' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT ROW_NUMBER() OVER (PARTITION BY region) FROM people
--! 1:40 'region' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT COUNT(*) OVER (ORDER BY age) FROM people
--! 1:32 'age' is a column of single rows. Aggregate it, or GROUP BY it.

SELECT region, COUNT(*) AS n, median(age) over () AS m FROM people GROUP BY region
--! 1:31 MEDIAN cannot stand before OVER. `tacit docs tables` lists the windows.

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING RANK() OVER (ORDER BY COUNT(*)) < 3
--! 1:65 A window cannot stand in WHERE or HAVING. Name it here, put this SELECT in brackets, and filter around it: SELECT ... FROM (SELECT ...) AS x WHERE ...

SELECT COUNT(*) FROM people WHERE ROW_NUMBER() OVER (ORDER BY age) = 1
--! 1:35 A window works on the rows of an answer, as in SELECT SUM(COUNT(*)) OVER () ... GROUP BY ...

SELECT region, LAG(COUNT(*), 1, 0) OVER (ORDER BY region) FROM people GROUP BY region
--! 1:16 Write a default as COALESCE(LAG(x, 1) OVER (...), default).

SELECT region, SUM(COUNT(*)) OVER (ORDER BY region RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM people GROUP BY region
--! 1:66 A frame by RANGE is not supported. Write a frame as ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, with whole numbers or UNBOUNDED.

SELECT region, SUM(COUNT(*)) OVER w FROM people GROUP BY region WINDOW w AS (ORDER BY region)
--! 1:8 SELECT with WINDOWS is not supported.

SELECT region, NTILE(0) OVER (ORDER BY region), COUNT(*) FROM people GROUP BY region
--! 1:16 NTILE needs a number of parts, a whole number from 1 to 1000000.

SELECT age FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--! 1:8 There is no column 'age' here; the columns of the subquery are region, n.

SELECT y.n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--! 1:8 There is no table 'y' here.

SELECT x.region, SUM(n) FROM (SELECT region, age, COUNT(*) AS n FROM people GROUP BY region, age) AS x
--! 1:8 'region' is not a key of this GROUP BY. Sum it, count it, or group by it.

SELECT MEDIAN(n) FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--! 1:8 Of released rows there are COUNT, SUM, AVG, MIN and MAX. Compute others from the answer.

SELECT COUNT(DISTINCT region) FROM (SELECT region, age, COUNT(*) AS n FROM people GROUP BY region, age) AS x
--! 1:8 Select the DISTINCT values in a subquery, and count its rows.

SELECT people.age, n FROM people JOIN (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x USING (region)
--! 1:47 The rows of an answer cannot be joined. Select from one aggregated subquery alone, or group the subquery by the unit.

SELECT SUM(n) OVER (), SUM(n) FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--! 1:8 A window cannot stand beside GROUP BY here. Put this SELECT in brackets, and OVER around it.

SELECT n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x HAVING n > 3
--! 1:86 HAVING needs a GROUP BY or an aggregate. Use WHERE.

SELECT n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x WHERE n
--! 1:85 A condition must be true or false, such as n >= 18; this is a number.

SELECT n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x QUALIFY n > 3
--! 1:87 SELECT with QUALIFY is not supported.

SELECT COUNT(*) AS n FROM people WHERE age > 3 OR person_id IN (SELECT person_id FROM visits)
--! 1:51 A subquery can stand only after FROM or JOIN, and in WHERE as unit IN (SELECT unit ...) or EXISTS, joined to other conditions by AND.

SELECT COUNT(*) AS n FROM people WHERE age IN (SELECT age FROM people)
--! 1:40 Only the unit can be IN a subquery: unit IN (SELECT unit FROM ... WHERE ...).

SELECT COUNT(*) AS n FROM people WHERE person_id IN (SELECT age FROM people)
--! 1:40 The subquery of a cohort must give the unit alone: SELECT unit FROM ...

SELECT COUNT(*) AS n FROM people WHERE person_id IN (SELECT person_id, age FROM people)
--! 1:40 The subquery of a cohort must give the unit alone: SELECT unit FROM ...

SELECT COUNT(*) AS n FROM people WHERE person_id IN (SELECT COUNT(*) FROM people)
--! 1:61 A subquery with aggregates must be grouped by the unit.

SELECT COUNT(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM visits WHERE cost > 50)
--! 1:55 EXISTS needs the unit of its rows made equal to that of the rows outside: EXISTS (SELECT 1 FROM t AS a WHERE a.unit = b.unit AND ...), with different names for the two tables.

SELECT COUNT(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM people WHERE people.person_id = people.person_id)
--! 1:55 EXISTS needs the unit of its rows made equal to that of the rows outside: EXISTS (SELECT 1 FROM t AS a WHERE a.unit = b.unit AND ...), with different names for the two tables.

SELECT COUNT(*) AS n FROM people WHERE person_id IN (SELECT person_id FROM visits LIMIT 3)
--! 1:89 SELECT with LIMIT is not supported.

SELECT COUNT(*) AS n FROM people WHERE person_id = 7
--! 1:40 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT CORR(age, region) FROM people
--! 1:8 A statistic of pairs needs numbers; 'region' is a category.

SELECT CORR(age, free) FROM people
--! 1:8 'free' has no bounds. Put lower and upper in the schema, buy bounds with `tacit bounds`, or CLAMP the values.

SELECT COVAR_POP(person_id, age) FROM people
--! 1:18 'person_id' is the unit of privacy and can only be counted: COUNT(DISTINCT person_id).

SELECT COUNT(*) FROM hr.people
--! 1:22 There is no schema 'hr'; the tables are in public, as public.people.

SELECT COUNT(*) FROM other.public.people
--! 1:22 There is no database 'other' here. Write the table as public.people.

SELECT DISTINCT COUNT(*) AS n FROM people GROUP BY region
--! 1:17 SELECT DISTINCT must show all keys of its GROUP BY.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = age) COUNT(*) FROM people
--! 1:78 privacy_unit_column must be person_id, which the schema of people protects.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = 3) COUNT(*) FROM people
--! 1:78 privacy_unit_column must be the name of a column.

SELECT COUNT(*) FROM people WHERE joined < DATE_TRUNC('hour', NOW())
--! 1:63 NOW cannot stand here. It would make a new question of every second. Write CURRENT_DATE, or DATE_TRUNC('day', NOW()).

SELECT COUNT(*) FROM people WHERE joined < CAST(NOW() - INTERVAL '3 hours' AS DATE)
--! 1:49 Only whole days and months can be added to the current time.

SELECT TO_CHAR(NOW(), 'HH24') AS h, COUNT(*) FROM people GROUP BY 1
--! 1:16 NOW cannot stand here. It would make a new question of every second. Write CURRENT_DATE, or DATE_TRUNC('day', NOW()).

SELECT TO_CHAR(joined, 'YYYY-XX') AS m, COUNT(*) FROM people GROUP BY 1
--! 1:8 The format 'YYYY-XX' is not understood at 'XX'; its words are YYYY, YY, Q, MONTH, MON, MM, IYYY, IW, DDD, DD, DAY, DY, ID, D, HH24, HH12, MI, SS.

SELECT TO_CHAR(age, '999') AS m, COUNT(*) FROM people GROUP BY 1
--! 1:8 TO_CHAR needs a date or a timestamp; 'age' is a number. Use CAST(... AS TEXT) for numbers.

SELECT COUNT(*) FROM people WHERE joined > TO_DATE('31.1.2020', 'YYYY-MM-DD')
--! 1:44 No text here is of the form 'YYYY-MM-DD', such as '2020-12-31' for 'YYYY-MM-DD'.

SELECT COUNT(*) FROM people WHERE joined AT TIME ZONE 'Europe/Berlin' > '2020-01-01'
--! 1:35 Timestamps are in UTC, and can be in no other time zone.

SELECT COUNT(*) FROM people WHERE LENGTH(note) > 3
--! 1:35 LENGTH needs a category, whose labels are public; 'note' is text.

SELECT COUNT(*) FROM people WHERE region ~ '(n'
--! 1:35 The pattern '(n' cannot be read: a bracket is not closed.

SELECT COUNT(*) FROM people WHERE region ~ '(?=n)'
--! 1:35 The pattern '(?=n)' cannot be read: of groups that begin with ? only (?: is understood.

SELECT COUNT(*) FROM people WHERE region ~ '((n{200}){200}){200}'
--! 1:35 The pattern '((n{200}){200}){200}' cannot be read: it has more than 2000 parts.

SELECT SUM(SQRT(spend)) FROM people
--! 1:12 SQRT on rows is looked up in a table of at most 10000 public values. Round the numbers first, as in SQRT(ROUND(x)), or CLAMP them.

SELECT SUM(EXP(age)) FROM people
--! 1:12 EXP of numbers above 36 could exceed 64 bits. CLAMP the numbers first.

SELECT SUM(LN(free)) FROM people
--! 1:12 LN on rows is looked up in a table of at most 10000 public values. Round the numbers first, as in LN(ROUND(x)), or CLAMP them.

SELECT CAST(spend AS TEXT) AS s, COUNT(*) FROM people GROUP BY 1
--! 1:13 Only whole numbers, dates and conditions can be written as text; 'spend' is a number.

SELECT WIDTH_BUCKET(age, 65, 18, 5) AS b, COUNT(*) FROM people GROUP BY b
--! 1:8 WIDTH_BUCKET needs a lower and a higher bound, and a whole number of buckets.

SELECT BOOL_OR(age) FROM people
--! 1:16 BOOL_OR needs a condition; 'age' is a number.

SELECT COUNT(*) AS n, DP_INTERVAL_LOW(region) FROM people GROUP BY region
--! 1:23 Arithmetic on the answer needs numbers; this is text.

SELECT COUNT(*) AS n FROM people LIMIT 5 PERCENT
--! 1:40 LIMIT with LIMIT_OPTIONS is not supported.

SELECT COUNT(*) AS n FROM people FETCH FIRST 5 ROWS WITH TIES
--! 1:46 LIMIT OPTIONS with WITH_TIES is not supported.

SELECT COUNT(*) FROM people OFFSET -1
--! 1:37 OFFSET must be a whole number of at least 0.
