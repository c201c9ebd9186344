SELECT COUNT(*) FROM people
--> people(10) | count = count()

select count(*) as n from PEOPLE
--> people(10) | n = count()

SELECT COUNT(1) AS n FROM people AS p
--> people(10) | n = count()

SELECT COUNT(age) FROM people
--> people(10) | count_age = count(age)

SELECT COUNT(DISTINCT person_id) FROM people
--> people(10) | units = units()

SELECT COUNT(DISTINCT p."person_id") AS "Who?" FROM people p
--> people(10) | Who? = units()

SELECT COUNT_IF(age > 17) FROM people
--> people(10) | count = count(if (18 <= age) then 1 else null fi)

SELECT COUNT(*) FILTER (WHERE region = 'north') AS n FROM people
--> people(10) | n = count(if (region = north) then 1 else null fi)

SELECT COUNT(DISTINCT person_id) FILTER (WHERE member) AS n FROM people
--> people(10) | n = units(if member then 1 else null fi)

SELECT SUM(spend) FROM people
--> people(10) | sum_spend = sum(spend)

SELECT SUM(spend) FILTER (WHERE age < 18.5) AS young FROM people
--> people(10) | young = sum(if (age <= 18) then spend else null fi @1/128)

SELECT SUM(member) FROM people
--> people(10) | sum_member = sum((member + 0))

SELECT SUM(age + spend), SUM(age * spend) AS product FROM people
--> people(10) | sum = sum(((age * 128) + spend) @1/128), product = sum((age * spend) @1/128)

SELECT SUM(2 * age - 1) FROM people
--> people(10) | sum = sum(((age * 2) + -1))

SELECT SUM(age / 3) AS thirds FROM people
--> people(10) | thirds = sum((age + 0) @1/3)

SELECT AVG(spend / age) AS each FROM people
--> people(10) | each = mean(((spend * 16) // age) @1/2048)

SELECT AVG(age), AVG(spend) FROM people
--> people(10) | mean_age = mean(age), mean_spend = mean(spend)

SELECT VARIANCE(age), VAR_POP(spend), STDDEV(age), STDDEV_POP(spend) FROM people
--> people(10) | variance_age = variance(age), variance_spend = variance(spend), stddev_age = deviation(age), stddev_spend = deviation(spend)

SELECT MEDIAN(age), QUANTILE(age, 0.25), QUANTILE(age, 0.75) AS upper FROM people
--> people(10) | median_age = quantile(age, 1/2), quantile_age = quantile(age, 1/4), upper = quantile(age, 3/4)

SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY spend) AS p90 FROM people
--> people(10) | p90 = quantile(spend, 9/10)

SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY spend DESC) AS p10 FROM people
--> people(10) | p10 = quantile(spend, 1/10)

SELECT APPROX_QUANTILE(age, 0.5), PERCENTILE_CONT(spend, 0.5) FROM people
--> people(10) | quantile_age = quantile(age, 1/2), quantile_spend = quantile(spend, 1/2)

SELECT MIN(age), MAX(age), MIN(joined) FROM people
--> people(10) | min_age = quantile(age, 1/100), max_age = quantile(age, 99/100), min_joined = quantile(joined, 1/100)

SELECT MODE(region) FROM people
--> people(10) | mode_region = top(region, 1 of 1)

SELECT MODE() WITHIN GROUP (ORDER BY region) FROM people
--> people(10) | mode_region = top(region, 1 of 1)

SELECT TOP_K(region, 2) AS t FROM people
--> people(10) | t_1 = top(region, 1 of 2), t_2 = top(region, 2 of 2)

SELECT APPROX_TOP_K(age, 3) FROM people
--> people(10) | top_age_1 = top(age, 1 of 3), top_age_2 = top(age, 2 of 3), top_age_3 = top(age, 3 of 3)

SELECT region, COUNT(*) FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | count = count()

SELECT region AS r, COUNT(*) AS n FROM people GROUP BY r
--> people(10) | by r = region [2] in 3 | n = count()

SELECT region, member, AVG(age) AS m FROM people GROUP BY 1, 2
--> people(10) | by region = region [2], member = member [2] in 3 | m = mean(age)

SELECT COUNT(*) FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | count = count() | show count = count

SELECT COUNT(*) AS region FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | region_2 = count() | show region = region_2

SELECT note, COUNT(*) AS n FROM people GROUP BY note
--> people(10) | by note = note [?] in 3 | n = count()

SELECT note, region, COUNT(*) AS n FROM people GROUP BY note, region
--> people(10) | by note = note [?], region = region [2] in 3 | n = count()

SELECT FLOOR(age / 10) * 10 AS band, COUNT(*) AS n FROM people GROUP BY band
--> people(10) | by band = (age // 10) @10 [13] in 3 | n = count()

SELECT age DIV 10 AS decade, COUNT(*) AS n FROM people GROUP BY 1
--> people(10) | by decade = (age // 10) [13] in 3 | n = count()

SELECT age % 7 AS rest, COUNT(*) AS n FROM people GROUP BY rest
--> people(10) | by rest = (age + ((age // 7) * -7)) [7] in 3 | n = count()

SELECT MOD(age - 60, 7) AS rest, COUNT(*) AS n FROM people GROUP BY rest
--> people(10) | by rest = if ((age + -60) <= -1) then ((((age + -60) * -1) + ((((age + -60) * -1) // 7) * -7)) * -1) else ((age + -60) + (((age + -60) // 7) * -7)) fi [13] in 3 | n = count()

SELECT ROUND(spend, -2) AS r, COUNT(*) AS n FROM people GROUP BY r
--> people(10) | by r = (((spend + 0) + 6400) // 12800) @100 [6] in 3 | n = count()

SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS who, COUNT(*) AS n FROM people GROUP BY who
--> people(10) | by who = if (age <= 17) then child else if (age <= 64) then adult else old fi fi [3] in 3 | n = count()

SELECT CASE region WHEN 'north' THEN 1 ELSE 1000 END AS code, COUNT(*) AS n FROM people GROUP BY code
--> people(10) | by code = if (region = north) then 1 else 1000 fi [2] in 3 | n = count()

SELECT IF(member, 'yes', 'no') AS m, COUNT(*) AS n FROM people GROUP BY m
--> people(10) | by m = if member then yes else no fi [2] in 3 | n = count()

SELECT EXTRACT(YEAR FROM joined) AS y, COUNT(*) AS n FROM people GROUP BY y
--> people(10) | by y = year(joined) [11] in 3 | n = count()

SELECT YEAR(joined) AS y, MONTH(joined) AS m, COUNT(*) AS n FROM people GROUP BY y, m
--> people(10) | by y = year(joined) [11], m = month(joined) [12] in 3 | n = count()

SELECT DATE_TRUNC('quarter', joined) AS q, COUNT(*) AS n FROM people GROUP BY q
--> people(10) | by q = lookup(((year(joined) * 4) + (quarter(joined) + -1)): 44) [44] in 3 | n = count()

SELECT DATE_TRUNC('week', joined) AS w, COUNT(*) AS n FROM people GROUP BY w
--> people(10) | by w = lookup((((joined + 0) + 3) // 7): 575) [575] in 3 | n = count()

SELECT EXTRACT(DOW FROM joined) AS d, EXTRACT(ISODOW FROM joined) AS i, DAYOFWEEK(joined) AS b, COUNT(*) AS n FROM people GROUP BY d, i, b
--> people(10) | by d = (weekday(joined) + ((weekday(joined) // 7) * -7)) [7], i = weekday(joined) [7], b = ((weekday(joined) + ((weekday(joined) // 7) * -7)) + 1) [7] in 3 | n = count()

SELECT DATE_PART('month', joined) AS m, COUNT(*) AS n FROM people GROUP BY m
--> people(10) | by m = month(joined) [12] in 3 | n = count()

SELECT COUNT(*) AS n FROM people WHERE age >= 18 AND age <= 65 AND region <> 'south'
--> people(10) where (((18 <= age) and (age <= 65)) and not (region = south)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 18 AND 65
--> people(10) where ((18 <= age) and (age <= 65)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE NOT age BETWEEN 18 AND 65
--> people(10) where not ((18 <= age) and (age <= 65)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age NOT IN (1, 2, 200) OR region IN ('north', 'south')
--> people(10) where ((not (((age = 1) or (age = 2)) or (age = 121)) or (region = north)) or (region = south)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE note LIKE 'a%b%' AND region LIKE '_orth' AND note NOT LIKE '%%x'
--> people(10) where (((note like 'a%b%') and lookup(region: 2)) and not (note like '%x')) | n = count()

SELECT COUNT(*) AS n FROM people WHERE note = 'O''Brien; DROP TABLE people --'
--> people(10) where (note = O'Brien; DROP TABLE people --) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age IS NULL OR spend IS NOT NULL
--> people(10) where (missing(age) or not missing(spend)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE member IS TRUE OR member IS NOT FALSE
--> people(10) where (if missing(member) then False else member fi or not if missing(not member) then False else not member fi) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age IS NOT DISTINCT FROM 7
--> people(10) where if missing((age = 7)) then (missing(age) and False) else (age = 7) fi | n = count()

SELECT COUNT(*) AS n FROM people WHERE member
--> people(10) where member | n = count()

SELECT COUNT(*) AS n FROM people WHERE spend > 1e2 AND 3 < age AND age != 5
--> people(10) where (((12801 <= spend) and (4 <= age)) and not (age = 5)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined >= DATE '2020-01-01' AND joined < '2021-01-01'
--> people(10) where ((2020-01-01 <= joined) and (joined < 2021-01-01)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined + INTERVAL '7' DAY > DATE '2020-01-01'
--> people(10) where (2020-01-01 < (joined + 7)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE COALESCE(age, 0) = 0 AND NULLIF(age, 3) IS NULL
--> people(10) where ((if missing(age) then 0 else age fi = 0) and missing(if (age = 3) then null else age fi)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE ABS(age - 40) < 5 AND LEAST(age, spend) > 1 AND GREATEST(age, 3) = 3
--> people(10) where (((if ((age + -40) <= -1) then ((age + -40) * -1) else (age + -40) fi <= 4) and (129 <= if (spend <= (age * 128)) then spend else if missing(spend) then spend else (age * 128) fi fi)) and (if (age <= 3) then 3 else age fi = 3)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE CAST(spend AS INTEGER) = 3 AND CAST(member AS INT) = 1 AND age::DOUBLE < 0.5
--> people(10) where (((((spend + 64) // 128) = 3) and ((member + 0) = 1)) and (age <= 0)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE CEIL(spend) = 4 AND -age < -3
--> people(10) where (((((spend * -1) // 128) * -1) = 4) and ((age * -1) <= -4)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE TRUE
--> people(10) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age = NULL
--> people(10) where null | by column_1 = 0 [1] |  | show n = column_1

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 100 ORDER BY n DESC, region LIMIT 5
--> people(10) | by region = region [2] in 3 | n = count() | having (100 < n) | order -n, region | limit 5

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n BETWEEN 1 AND 9 OR region = 'north' ORDER BY 2
--> people(10) | by region = region [2] in 3 | n = count() | having (((1 <= n) and (n <= 9)) or (region = north)) | order n

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING AVG(age) > 40
--> people(10) | by region = region [2] in 3 | n = count(), mean_age = mean(age) | show region = region, n = n | having (40 < mean_age)

SELECT member, COUNT(*) AS n FROM people GROUP BY member HAVING member AND (n > 3 OR NULL)
--> people(10) | by member = member [2] in 3 | n = count() | having (member and ((3 < n) or None))

SELECT MEDIAN(joined) > '2020-01-09' AS late FROM people
--> people(10) | median_joined = quantile(joined, 1/2) | show late = (2020-01-09 < median_joined)

SELECT member, CAST(member AS INTEGER) AS x, COUNT(*) AS n FROM people GROUP BY member
--> people(10) | by member = member [2] in 3 | n = count() | show member = member, x = if is_missing(member) then None else if member then 1 else 0 fi fi, n = n

SELECT SUM(spend) / COUNT(*) AS m FROM people
--> people(10) | sum_spend = sum(spend), count = count() | show m = (sum_spend / count)

SELECT region, 100.0 * SUM(spend) / NULLIF(COUNT(*), 0) AS share, COUNT(*) AS n FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | sum_spend = sum(spend), count = count() | show region = region, share = ((100 * sum_spend) / if (count = 0) then None else count fi), n = count

SELECT region, ROUND(AVG(age), 1) AS m, -COUNT(*) AS neg, SQRT(VARIANCE(age)) AS s FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | mean_age = mean(age), count = count(), variance_age = variance(age) | show region = region, m = round(mean_age, 1), neg = (0 - count), s = sqrt(variance_age)

SELECT COUNT(*) AS n, n * 2 AS twice FROM people
--> people(10) | n = count() | show n = n, twice = (n * 2)

SELECT CASE WHEN COUNT(*) < 10 THEN NULL ELSE AVG(age) END AS safe FROM people
--> people(10) | count = count(), mean_age = mean(age) | show safe = if (count < 10) then None else mean_age fi

SELECT COALESCE(AVG(age), 0) AS m, GREATEST(COUNT(*), 0) AS n, CAST(COUNT(*) AS DOUBLE) AS d FROM people
--> people(10) | mean_age = mean(age), count = count() | show m = if is_missing(mean_age) then 0 else mean_age fi, n = if (0 <= count) then count else 0 fi, d = count

SELECT FLOOR(age / 10) + 1 AS next, COUNT(*) AS n FROM people GROUP BY FLOOR(age / 10)
--> people(10) | by key_1 = (age // 10) [13] in 3 | n = count() | show next = (key_1 + 1), n = n

SELECT COUNT(*) AS a, COUNT(*) AS b FROM people
--> people(10) | a = count() | show a = a, b = a

SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE age > 3) AS x WHERE x.age < 9
--> people(10) where ((4 <= age) and (age <= 8)) | n = count()

SELECT AVG(double_age) FROM (SELECT age * 2 AS double_age FROM people) AS x
--> [people(10) derive double_age = (age + 0) @2] | mean_double_age = mean(double_age)

SELECT COUNT(DISTINCT who) FROM (SELECT person_id AS who, age FROM people) AS x
--> [people(10) derive age = age] | units = units()

SELECT AVG(total) FROM (SELECT person_id, SUM(spend) AS total FROM people GROUP BY person_id) AS t
--> [people(10) per unit total = sum(spend) @1/128] | mean_total = mean(total)

SELECT COUNT(*) AS n FROM (SELECT person_id, COUNT(*) AS visits FROM people GROUP BY 1 HAVING COUNT(*) >= 3) AS t
--> [people(10) per unit visits = count()] where (3 <= visits) | n = count()

SELECT AVG(a) FROM (SELECT person_id, AVG(spend) AS a, MIN(age) AS youngest FROM people GROUP BY person_id) AS t WHERE youngest > 17
--> [[people(10) per unit sum_spend = sum(spend) @1/128, count_spend = count(spend), youngest = min(age)] derive a = ((sum_spend * 8) // count_spend) @1/1024, youngest = youngest] where (18 <= youngest) | mean_a = mean(a)

SELECT region, AVG(total) AS m FROM (SELECT person_id, region, SUM(spend) AS total FROM people GROUP BY person_id, region) AS t GROUP BY region
--> [people(10) per unit region = region, total = sum(spend) @1/128] | by region = region [2] in 3 | m = mean(total)

SELECT AVG(y) FROM (SELECT person_id, EXTRACT(YEAR FROM joined) AS y, SUM(spend) + 1 AS s FROM people GROUP BY person_id, y) AS t WHERE s > 2
--> [[people(10) per unit y = year(joined), sum_spend = sum(spend) @1/128] derive y = y, s = (sum_spend + 128) @1/128] where (257 <= s) | mean_y = mean(y)

WITH adults AS (SELECT * FROM people WHERE age >= 18) SELECT region, COUNT(*) AS n FROM adults GROUP BY region
--> people(10) where (18 <= age) | by region = region [2] in 3 | n = count()

WITH a AS (SELECT person_id, SUM(spend) AS s FROM people GROUP BY person_id), b AS (SELECT * FROM a WHERE s > 10) SELECT MEDIAN(s) FROM b
--> [people(10) per unit s = sum(spend) @1/128] where (1281 <= s) | median_s = quantile(s, 1/2)

WITH a AS (SELECT person_id, SUM(spend) FILTER (WHERE member) AS s FROM people GROUP BY person_id) SELECT AVG(s) FROM a
--> [people(10) per unit s = sum(if member then spend else null fi) @1/128] | mean_s = mean(s)

SELECT COUNT(*) AS n FROM people JOIN visits USING (person_id)
--> (people(10) join [visits(5) derive cost = cost, visits_age = age]) | n = count()

SELECT SUM(v.cost) FROM people AS p JOIN visits AS v ON p.person_id = v.person_id WHERE p.age <> v.age
--> (people(10) join [visits(5) derive cost = cost, visits_age = age]) where not (age = visits_age) | sum_cost = sum(cost)

SELECT COUNT(*) AS n FROM visits v INNER JOIN (SELECT person_id, MAX(age) AS oldest FROM people GROUP BY person_id) o ON o.person_id = v.person_id WHERE oldest > 60
--> (visits(5) join [people(10) per unit oldest = max(age)]) where (61 <= oldest) | n = count()

SELECT COUNT(*) AS n FROM people p JOIN people q ON (p.person_id = q.person_id) WHERE p.age < q.age
--> (people(10) join [people(10) derive people_age = age, people_spend = spend, people_region = region, people_joined = joined, people_note = note, people_member = member, people_free = free]) where (age < people_age) | n = count()

SELECT zone, COUNT(*) AS n FROM people JOIN regions USING (region) GROUP BY zone
--> people(10) where lookup(region: 2) | by zone = lookup(region: 2) [2] in 3 | n = count()

SELECT r.zone AS z, AVG(r.pop) AS m FROM people p LEFT JOIN regions r ON p.region = r.region GROUP BY z
--> people(10) | by z = lookup(region: 2) [2] in 3 | m = mean(lookup(region: 2) @1/2)

SELECT COUNT(*) AS n FROM people p JOIN regions r ON r.region = p.region WHERE pop > 1.6
--> people(10) where (lookup(region: 2) and (4 <= lookup(region: 2))) | n = count()

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6) region, COUNT(*) AS n FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | n = count()

SELECT WITH ANONYMIZATION OPTIONS (rho = 0.1, max_groups_contributed = 2) region, COUNT(*) AS n FROM people GROUP BY region
--> people(10) | by region = region [2] in 2 | n = count()

SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) AS n FROM people
--> people(10) | n = count()

WITH a AS (SELECT * FROM people WHERE member) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = .5, max_rows_contributed = 10) COUNT(*) AS n FROM a
--> people(10) where member | n = count()

SELECT /* what */ COUNT(*) AS n -- how many
FROM people;
--> people(10) | n = count()

SELECT SUM(CLAMP(free, 0, 100)) AS s FROM people
--> people(10) | s = sum(if (100 <= if (free <= 0) then 0 else free fi) then 100 else if (free <= 0) then 0 else free fi fi)

SELECT CLAMP(free, 0, 3) AS f, COUNT(*) AS n FROM people GROUP BY f
--> people(10) | by f = if (3 <= if (free <= 0) then 0 else free fi) then 3 else if (free <= 0) then 0 else free fi fi [4] in 3 | n = count()

SELECT region, COUNT(*) AS n FROM people GROUP BY region, 1, people.region
--> people(10) | by region = region [2] in 3 | n = count()

SELECT zone, COUNT(*) AS n FROM (SELECT * FROM people JOIN regions USING (region)) AS t GROUP BY zone
--> [people(10) where lookup(region: 2) derive age = age, spend = spend, region = region, joined = joined, note = note, member = member, free = free, pop = lookup(region: 2) @1/2, zone = lookup(region: 2)] | by zone = zone [2] in 3 | n = count()

SELECT AVG(z) FROM (SELECT p.person_id, COUNT(1) AS z FROM people AS p JOIN regions AS r ON p.region = r.region WHERE r.pop < 2 GROUP BY p.person_id) AS t
--> [people(10) where (lookup(region: 2) and (lookup(region: 2) <= 3)) per unit z = count()] | mean_z = mean(z)

SELECT COUNT(*) AS n FROM (SELECT p.*, v.cost FROM people AS p JOIN visits AS v USING (person_id)) AS t WHERE cost > age
--> [(people(10) join [visits(5) derive cost = cost, visits_age = age]) derive age = age, spend = spend, region = region, joined = joined, note = note, member = member, free = free, cost = cost] where (age < cost) | n = count()

SELECT MAX(best) FROM (SELECT person_id, MAX(total) AS best FROM (SELECT person_id, region, SUM(spend) AS total FROM people GROUP BY person_id, region) AS a GROUP BY person_id) AS b
--> [[people(10) per unit region = region, total = sum(spend) @1/128] per unit best = max(total) @1/128] | max_best = quantile(best, 99/100)

SELECT COUNT(DISTINCT person_id) AS n FROM (SELECT person_id FROM people WHERE age > 30) AS x JOIN (SELECT person_id FROM visits WHERE cost > 5) AS y USING (person_id)
--> (people(10) where (31 <= age) join [visits(5) where (6 <= cost) derive cost = cost, visits_age = age]) | n = units()

SELECT AVG(share) FROM (SELECT person_id, SUM(spend) FILTER (WHERE member) / SUM(spend) AS share FROM people GROUP BY person_id) AS t
--> [[people(10) per unit sum = sum(if member then spend else null fi) @1/128, sum_spend = sum(spend) @1/128] derive share = ((sum * 1024) // sum_spend) @1/1024] | mean_share = mean(share)

SELECT AVG(share) FROM (SELECT person_id, CLAMP(SUM(spend) FILTER (WHERE member) / SUM(spend), 0, 1) AS share FROM people GROUP BY person_id) AS t
--> [[people(10) per unit sum = sum(if member then spend else null fi) @1/128, sum_spend = sum(spend) @1/128] derive share = if (1024 <= if (((sum * 1024) // sum_spend) <= 0) then 0 else ((sum * 1024) // sum_spend) fi) then 1024 else if (((sum * 1024) // sum_spend) <= 0) then 0 else ((sum * 1024) // sum_spend) fi fi @1/1024] | mean_share = mean(share)

SELECT COUNT(*) AS n FROM people WHERE (age - 60) DIV age = -1
--> people(10) where (if (((age + -60) // age) <= -1) then ((((age + -60) * -1) // age) * -1) else ((age + -60) // age) fi = -1) | n = count()

SELECT AVG(m) FROM (SELECT person_id, SUM(member) AS m, MAX(joined) AS last FROM people GROUP BY person_id) AS t WHERE last >= '2024-01-01'
--> [people(10) per unit m = sum((member + 0)), last = max(joined)] where (2024-01-01 <= last) | mean_m = mean(m)

SELECT COUNT(*) AS n FROM people WHERE region = CASE WHEN member THEN 'north' ELSE 'x' END
--> people(10) where ((region + 0) = lookup(if member then north else x fi: 2)) | n = count()

SELECT COALESCE(note, 'none') AS note, COUNT(*) AS n FROM people GROUP BY 1
--> people(10) | by note = if missing(note) then none else note fi [?] in 3 | n = count()

SELECT AVG(age) AS m FROM people ORDER BY m ASC NULLS LAST
--> people(10) | m = mean(age) | order m

SELECT AVG(age) AS m FROM people ORDER BY m DESC NULLS LAST
--> people(10) | m = mean(age) | order -m

SELECT COUNT(*) AS n FROM people WHERE member = (TRUE IS NULL)
--> people(10) where (member = False) | n = count()

SELECT COUNT(*) AS n FROM people WHERE (member = TRUE) IS NULL
--> people(10) where missing((member = True)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age = 3 AND spend IS NULL OR member IS NOT NULL AND spend <= 4
--> people(10) where (((age = 3) and missing(spend)) or (not missing(member) and (spend <= 512))) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 3 AND 4 AND spend IS NULL AND age > 1
--> people(10) where (((3 <= age) and (age <= 4)) and (missing(spend) and (2 <= age))) | n = count()

WITH a AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM (WITH a AS (SELECT * FROM visits) SELECT * FROM a) AS b
--> visits(5) | n = count()

SELECT COUNT(*) AS n FROM people WHERE DATE(joined) >= DATE '2020-01-01'
--> people(10) where (2020-01-01 <= joined) | n = count()

SELECT DAY(joined) AS d, COUNT(*) AS n FROM people GROUP BY d
--> people(10) | by d = day(joined) [31] in 3 | n = count()

SELECT COUNT(*) AS n FROM people WHERE DAYOFMONTH(joined) = 1 AND QUARTER(joined) = 4
--> people(10) where ((day(joined) = 1) and (quarter(joined) = 4)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE DAYOFWEEK_ISO(joined) <= 5
--> people(10) where (weekday(joined) <= 5) | n = count()

SELECT COUNT(*) AS n FROM people WHERE DAYOFYEAR(joined) <= 31
--> people(10) where (((joined + 0) + (lookup(year(joined): 11) * -1)) <= 31) | n = count()

SELECT COUNT(*) AS n FROM people WHERE WEEK(joined) = 1 OR WEEKOFYEAR(joined) = 53
--> people(10) where ((((((((((joined + 0) + 3) // 7) * 7) + (lookup(year(((((joined + 0) + 3) // 7) * 7)): 12) * -1)) + -1) // 7) + 1) = 1) or (((((((((joined + 0) + 3) // 7) * 7) + (lookup(year(((((joined + 0) + 3) // 7) * 7)): 12) * -1)) + -1) // 7) + 1) = 53)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE region ILIKE 'N%' AND LOWER(region) <> 'south' AND UPPER(region) LIKE '%H'
--> people(10) where ((lookup(lookup(region: 2): 2) and not (lookup(region: 2) = south)) and lookup(lookup(region: 2): 2)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE age IS DISTINCT FROM 18
--> people(10) where not if missing((age = 18)) then (missing(age) and False) else (age = 18) fi | n = count()

SELECT SUM(POWER(age, 2)) AS squares FROM people
--> people(10) | squares = sum((age * age))

SELECT QUANTILE_CONT(age, 0.5) AS a, QUANTILE_DISC(age, 0.25) AS b FROM people
--> people(10) | a = quantile(age, 1/2), b = quantile(age, 1/4)

SELECT SUM(TRY_CAST(member AS INTEGER)) AS whole FROM people
--> people(10) | whole = sum((member + 0))

SELECT COUNT(*) AS n FROM people WHERE TIMESTAMP_TRUNC(joined, MONTH) = DATE '2020-01-01'
--> people(10) where (lookup(((year(joined) * 12) + (month(joined) + -1)): 132) = 2020-01-01) | n = count()

SELECT COUNT(*) AS n FROM people WHERE HOUR(CAST(joined AS TIMESTAMP)) = 0 AND MINUTE(CAST(joined AS TIMESTAMP)) < 30 AND SECOND(CAST(joined AS TIMESTAMP)) = 7
--> people(10) where ((((((joined * 86400) // 3600) + ((((joined * 86400) // 3600) // 24) * -24)) = 0) and ((((joined * 86400) // 60) + ((((joined * 86400) // 60) // 60) * -60)) <= 29)) and ((((joined * 86400) // 1) + ((((joined * 86400) // 1) // 60) * -60)) = 7)) | n = count()

SELECT SUM(COUNT(*)) OVER () FROM people
--> people(10) | count = count() | show column_1 = sum(count) over ()

SELECT region, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | n = count() | show region = region, n = n, share = (n / sum(n) over ())

SELECT region, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, ROW_NUMBER() OVER (ORDER BY region), DENSE_RANK() OVER (ORDER BY SUM(age)), PERCENT_RANK() OVER (ORDER BY COUNT(*)), CUME_DIST() OVER (ORDER BY COUNT(*)), NTILE(4) OVER (ORDER BY COUNT(*)) FROM people GROUP BY region ORDER BY r
--> people(10) | by region = region [2] in 3 | count = count(), sum_age = sum(age) | show region = region, r = rank() over (order -count), column_3 = row_number() over (order region), column_4 = dense_rank() over (order sum_age), column_5 = percent_rank() over (order count), column_6 = cume_dist() over (order count), column_7 = ntile(4) over (order count) | order rank() over (order -count)

SELECT DATE_TRUNC('month', joined) AS m, COUNT(*) AS n, LAG(COUNT(*)) OVER (ORDER BY m) AS before, LEAD(COUNT(*), 12) OVER (ORDER BY m) AS later, FIRST_VALUE(COUNT(*)) OVER (ORDER BY m) AS f, LAST_VALUE(COUNT(*)) OVER (ORDER BY m) AS l FROM people GROUP BY m
--> people(10) | by m = lookup(((year(joined) * 12) + (month(joined) + -1)): 132) [132] in 3 | n = count() | show m = m, n = n, before = lag(n) over (order m), later = lead(n, 12) over (order m), f = first(n) over (order m), l = last(n) over (order m)

SELECT region, EXTRACT(YEAR FROM joined) AS y, AVG(COUNT(*)) OVER (PARTITION BY region ORDER BY y ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth, MAX(COUNT(*)) OVER (PARTITION BY region) AS top, MIN(COUNT(*)) OVER (PARTITION BY region ORDER BY y ROWS UNBOUNDED PRECEDING) AS low FROM people GROUP BY region, y
--> people(10) | by region = region [2], y = year(joined) [11] in 3 | count = count() | show region = region, y = y, smooth = mean(count) over (by region order y rows -1 to 1), top = max(count) over (by region), low = min(count) over (by region order y rows None to 0)

SELECT region, n FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x WHERE n > 10 ORDER BY n LIMIT 5
--> people(10) | by region = region [2] in 3 | n = count() | then region = region, n = n where (10 < n) order n limit 5

WITH x AS (SELECT region, COUNT(*) AS n FROM people GROUP BY region), y AS (SELECT SUM(n) AS s, COUNT(*) AS k FROM x WHERE n > 0) SELECT s / k AS each FROM y
--> people(10) | by region = region [2] in 3 | n = count() | then s = sum(n) over (), k = count() over () where (0 < n) one of () | then each = (s / k)

SELECT n > 200 AS big, COUNT(*) AS k, SUM(n) FILTER (WHERE n < 500) AS s FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) GROUP BY big HAVING COUNT(*) > 0 ORDER BY 2 DESC
--> people(10) | by region = region [2] in 3 | n = count() | then big = (200 < n), k = count() over (by (200 < n)), s = sum(if (n < 500) then n else None fi) over (by (200 < n)) one of ((200 < n)) having (0 < count() over (by (200 < n))) order -count() over (by (200 < n))

SELECT region, n FROM (SELECT region, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS place FROM people GROUP BY region) AS x WHERE place <= 2
--> people(10) | by region = region [2] in 3 | n = count() | show region = region, n = n, place = row_number() over (order -n) | then region = region, n = n where (place <= 2)

SELECT DISTINCT zone FROM (SELECT zone, region, COUNT(*) AS n FROM people JOIN regions USING (region) GROUP BY zone, region) AS x
--> people(10) where lookup(region: 2) | by zone = lookup(region: 2) [2], region = region [2] in 3 | n = count() | then zone = zone one of (zone)

SELECT COUNT(*) FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS x
--> people(10) | by region = region [2] in 3 | n = count() | then column_1 = count() over () one of ()

SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM people) AS x
--> people(10) | n = count() | then column_1 = count() over () one of ()

SELECT region, SUM(COUNT(*)) OVER (ORDER BY region RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | count = count() | show region = region, column_2 = sum(count) over (order region)

SELECT x.n * 2 AS twice, x.* FROM (SELECT region, COUNT(*) AS m, COUNT(age) AS n FROM people GROUP BY region) AS x
--> people(10) | by region = region [2] in 3 | m = count(), n = count(age) | then twice = (n * 2), region = region, m = m, n = n

SELECT COUNT(*) AS n FROM people WHERE person_id IN (SELECT person_id FROM visits WHERE cost > 50)
--> people(10) of [visits(5) where (51 <= cost)] | n = count()

SELECT region, SUM(spend) AS s FROM people WHERE age > 30 AND person_id NOT IN (SELECT DISTINCT v.person_id FROM visits AS v) GROUP BY region
--> people(10) where (31 <= age) not of [visits(5)] | by region = region [2] in 3 | s = sum(spend)

SELECT COUNT(DISTINCT person_id) AS n FROM people WHERE person_id IN (SELECT person_id FROM people GROUP BY person_id HAVING COUNT(*) > 3 AND SUM(spend) < 100)
--> people(10) of [[people(10) per unit count = count(), sum_spend = sum(spend) @1/128] where ((4 <= count) and (sum_spend <= 12799))] | n = units()

SELECT COUNT(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM visits WHERE visits.person_id = people.person_id AND cost > 50) AND NOT EXISTS (SELECT * FROM people AS other WHERE people.person_id = other.person_id AND other.member)
--> people(10) of [visits(5) where (51 <= cost)] not of [people(10) where member] | n = count()

WITH rich AS (SELECT person_id FROM people WHERE spend > 400) SELECT AVG(cost) AS c FROM visits AS v WHERE v.person_id IN (SELECT person_id FROM rich)
--> visits(5) of [people(10) where (51201 <= spend)] | c = mean(cost)

SELECT CORR(age, spend) AS r, COVAR_SAMP(age, spend) AS c, REGR_R2(spend, age) AS r2 FROM people
--> people(10) | sum_age = sum((if not (missing(age) or missing(spend)) then age else null fi + -60)), pairs = count(if not (missing(age) or missing(spend)) then age else null fi), sum_age_age = sum(((if not (missing(age) or missing(spend)) then age else null fi + -60) * (if not (missing(age) or missing(spend)) then age else null fi + -60))), sum_spend = sum((if not (missing(age) or missing(spend)) then spend else null fi + -32000) @1/128), sum_spend_spend = sum(((if not (missing(age) or missing(spend)) then spend else null fi + -32000) * (if not (missing(age) or missing(spend)) then spend else null fi + -32000)) @1/16384), sum_age_spend = sum(((if not (missing(age) or missing(spend)) then age else null fi + -60) * (if not (missing(age) or missing(spend)) then spend else null fi + -32000)) @1/128) | show r = if (if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi < -1) then -1 else if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi fi, c = ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / (pairs - 1)), r2 = (abs(if (if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi < -1) then -1 else if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi fi) * abs(if (if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi < -1) then -1 else if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi fi))

SELECT region, COVAR_POP(age, spend) AS c, REGR_SLOPE(age, spend) AS s, REGR_INTERCEPT(age, spend) AS i, REGR_COUNT(age, spend) AS n FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | sum_age = sum((if not (missing(age) or missing(spend)) then age else null fi + -60)), sum_spend = sum((if not (missing(age) or missing(spend)) then spend else null fi + -32000) @1/128), pairs = count(if not (missing(age) or missing(spend)) then age else null fi), sum_age_spend = sum(((if not (missing(age) or missing(spend)) then age else null fi + -60) * (if not (missing(age) or missing(spend)) then spend else null fi + -32000)) @1/128), sum_spend_spend = sum(((if not (missing(age) or missing(spend)) then spend else null fi + -32000) * (if not (missing(age) or missing(spend)) then spend else null fi + -32000)) @1/16384) | show region = region, c = ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / pairs), s = ((sum_age_spend - ((sum_spend * sum_age) / pairs)) / if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi), i = ((60 + (sum_age / pairs)) - (((sum_age_spend - ((sum_spend * sum_age) / pairs)) / if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi) * (250 + (sum_spend / pairs)))), n = pairs

SELECT CORR(age, spend) FILTER (WHERE member) AS r FROM people
--> people(10) | sum_age = sum((if (member and not (missing(age) or missing(spend))) then age else null fi + -60)), pairs = count(if (member and not (missing(age) or missing(spend))) then age else null fi), sum_age_age = sum(((if (member and not (missing(age) or missing(spend))) then age else null fi + -60) * (if (member and not (missing(age) or missing(spend))) then age else null fi + -60))), sum_spend = sum((if (member and not (missing(age) or missing(spend))) then spend else null fi + -32000) @1/128), sum_spend_spend = sum(((if (member and not (missing(age) or missing(spend))) then spend else null fi + -32000) * (if (member and not (missing(age) or missing(spend))) then spend else null fi + -32000)) @1/16384), sum_age_spend = sum(((if (member and not (missing(age) or missing(spend))) then age else null fi + -60) * (if (member and not (missing(age) or missing(spend))) then spend else null fi + -32000)) @1/128) | show r = if (if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi < -1) then -1 else if (1 < ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi)))) then 1 else ((sum_age_spend - ((sum_age * sum_spend) / pairs)) / sqrt((if ((sum_age_age - ((sum_age * sum_age) / pairs)) < 0) then 0 else (sum_age_age - ((sum_age * sum_age) / pairs)) fi * if ((sum_spend_spend - ((sum_spend * sum_spend) / pairs)) < 0) then 0 else (sum_spend_spend - ((sum_spend * sum_spend) / pairs)) fi))) fi fi

SELECT "public"."people"."region" AS "region", COUNT(*) AS "count" FROM "public"."people" WHERE "public"."people"."age" > 3 GROUP BY "public"."people"."region" ORDER BY "count" DESC, "public"."people"."region" ASC
--> people(10) where (4 <= age) | by region = region [2] in 3 | count = count() | order -count, region

SELECT p.region, COUNT(*) AS Total FROM people.public.people AS p GROUP BY 1
--> people(10) | by region = region [2] in 3 | total = count()

SELECT COUNT(*) AS "Total" FROM people.people WHERE 1 = 1 AND (TRUE OR age > 3)
--> people(10) | Total = count()

SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY n DESC OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY
--> people(10) | by region = region [2] in 3 | n = count() | order -n | limit 1 | offset 1

SELECT DISTINCT region, member AS m FROM people WHERE region <> 'north' ORDER BY region LIMIT 10
--> people(10) where not (region = north) | by region = region [1], m = member [2] in 3 |  | order region | limit 10

SELECT DISTINCT note FROM people
--> people(10) | by note = note [?] in 3 | 

SELECT DISTINCT region, COUNT(*) AS n FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | n = count()

SELECT 1 AS x, 'a' AS y
--> people(10) |  | show x = 1, y = a

SELECT * FROM people LIMIT 0
--> people(10) | by column_1 =  [1], column_2 = 0 [1], column_3 = 0 [1], column_4 = north [1], column_5 = 2015-01-01 [1], column_6 =  [1], column_7 = False [1], column_8 = 0 [1] |  | show person_id = column_1, age = column_2, spend = column_3, region = column_4, joined = column_5, note = column_6, member = column_7, free = column_8 | limit 0

SELECT p.age, p.person_id, SUM(v.cost) AS s FROM people p JOIN visits v USING (person_id) WHERE 1 = 0 GROUP BY 1, 2
--> (people(10) join [visits(5) derive cost = cost, visits_age = age]) where False | by column_1 = 0 [1], column_2 =  [1], column_3 = 0 [1] |  | show age = column_1, person_id = column_2, s = column_3 | limit 0

SELECT COUNT(*) AS n, AVG(age) AS m, MAX(joined) AS j, BOOL_OR(member) AS b FROM (SELECT * FROM people WHERE FALSE) AS t
--> people(10) where False | by column_1 = 0 [1], column_2 = 0 [1], column_3 = 2015-01-01 [1], column_4 = False [1] |  | show n = column_1, m = if False then column_2 else None fi, j = if False then column_3 else None fi, b = (column_4 = None)

SELECT region, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, DP_INTERVAL_HIGH(COUNT(*)) AS high FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | n = count() | show region = region, n = n, low = low(n), high = high(n)

SELECT LN(COUNT(*)) AS a, EXP(AVG(age) / 100) AS b, POWER(COUNT(*), 2) AS c, SIGN(SUM(age) - 10) AS d FROM people
--> people(10) | count = count(), mean_age = mean(age), sum_age = sum(age) | show a = ln(count), b = exp((mean_age / 100)), c = (count * count), d = if (0 < (sum_age - 10)) then 1 else if is_missing((sum_age - 10)) then None else if ((sum_age - 10) < 0) then -1 else 0 fi fi fi

SELECT COUNT(DISTINCT region) AS r, COUNT(DISTINCT note) FILTER (WHERE age > 3) AS k FROM people
--> people(10) | r = distinct(region), k = distinct(if (4 <= age) then note else null fi)

SELECT region, BOOL_OR(member) AS b, EVERY(age > 3) AS e FROM people GROUP BY region HAVING BOOL_AND(member)
--> people(10) | by region = region [2] in 3 | b = quantile((member + 0), 99/100), e = quantile(((4 <= age) + 0), 1/100), bool_and_member = quantile((member + 0), 1/100) | show region = region, b = (b = 1), e = (e = 1) | having (bool_and_member = 1)

SELECT TO_CHAR(joined, 'YYYY-MM') AS month, COUNT(*) AS n FROM people GROUP BY month
--> people(10) | by month = lookup(((year(joined) * 12) + (month(joined) + -1)): 132) [132] in 3 | n = count()

SELECT TO_CHAR(joined, 'FMDay, FMDD Mon') AS day, COUNT(*) AS n FROM people WHERE joined < '2015-01-05' GROUP BY day
--> people(10) where (joined < 2015-01-05) | by day = lookup(joined: 4018) [4] in 3 | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined >= TO_DATE('2020-01-31', 'YYYY-MM-DD') AND joined < TO_TIMESTAMP('2021-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
--> people(10) where ((2020-01-31 <= joined) and ((joined * 86400) < 2021-01-01 00:00:00)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined >= CURRENT_DATE - INTERVAL '3 months' AND joined < DATE_TRUNC('month', NOW() + INTERVAL '-30 day') AND joined <> CAST(CURRENT_TIMESTAMP AS DATE) AND joined <> DATE(LOCALTIMESTAMP)
--> people(10) where (((2024-03-30 <= joined) and (joined < 2024-05-01)) and (not (joined = 2024-06-30) and not (joined = 2024-06-30))) | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined >= DATE '2024-01-31' + INTERVAL '1 month 1 day' AND joined < '2025-01-01T00:00:00.000Z'::timestamptz AT TIME ZONE 'UTC'
--> people(10) where ((2024-03-01 <= joined) and ((joined * 86400) < 2025-01-01 00:00:00)) | n = count()

SELECT COUNT(*) AS n FROM people WHERE joined >= TIMESTAMP WITH TIME ZONE '2020-01-01 00:00:00.000Z'
--> people(10) where (2020-01-01 00:00:00 <= (joined * 86400)) | n = count()

SELECT DAYNAME(joined) AS d, MONTHNAME(joined) AS m, COUNT(*) AS n FROM people GROUP BY 1, 2
--> people(10) | by d = lookup(weekday(joined): 7) [7], m = lookup(month(joined): 12) [12] in 3 | n = count()

SELECT COUNT(*) AS n FROM people WHERE region ~ '^n' OR region !~* 'S.*h$' OR REGEXP_LIKE(region, '[n-s]o{1,2}u?')
--> people(10) where ((lookup(region: 2) or not lookup(region: 2)) or lookup(region: 2)) | n = count()

SELECT region || '-' || CAST(member AS TEXT) AS k, COUNT(*) AS n FROM people GROUP BY k
--> people(10) | by k = lookup((((region + 0) * 2) + lookup(member: 2)): 4) [4] in 3 | n = count()

SELECT CONCAT(region, '/', EXTRACT(YEAR FROM joined)) AS k, COUNT(*) AS n FROM people GROUP BY k
--> people(10) | by k = lookup((((if missing((region + 0)) then  else (region + 0) fi * 2) * 12) + if missing(lookup(year(joined): 11)) then  else lookup(year(joined): 11) fi): 72) [72] in 3 | n = count()

SELECT SUBSTR(region, 1, 2) AS a, LEFT(region, 1) AS b, RIGHT(region, 2) AS c, TRIM(region) AS d, REPLACE(region, 'o', '0') AS e, COUNT(*) AS n FROM people GROUP BY ALL
--> people(10) | by a = lookup(region: 2) [2], b = lookup(region: 2) [2], c = lookup(region: 2) [1], d = lookup(region: 2) [2], e = lookup(region: 2) [2] in 3 | n = count()

SELECT SPLIT_PART(region, 'o', 2) AS a, INITCAP(region) AS b, REVERSE(region) AS c, SUM(LENGTH(region)) AS l, SUM(POSITION('o' IN region)) AS p FROM people GROUP BY 1, 2, 3
--> people(10) | by a = lookup(region: 2) [2], b = lookup(region: 2) [2], c = lookup(region: 2) [2] in 3 | l = sum(lookup(region: 2)), p = sum(lookup(region: 2))

SELECT SUM(SQRT(age)) AS a, AVG(LN(age + 1)) AS b, SUM(EXP(CLAMP(age, 0, 10))) AS c, AVG(LOG10(age)) AS d FROM people
--> people(10) | a = sum(lookup(age: 121) @1/65536), b = mean(lookup((age + 1): 121) @1/131072), c = sum(lookup(if (10 <= if (age <= 0) then 0 else age fi) then 10 else if (age <= 0) then 0 else age fi fi: 11) @1/1024), d = mean(lookup(age: 120) @1/262144)

SELECT SUM(SIGN(age - 40)) AS a, SUM(TRUNC(spend)) AS b, SUM(TRUNC(spend - 250, 1)) AS c FROM people
--> people(10) | a = sum(if ((age + -40) <= -1) then -1 else ((1 <= (age + -40)) + 0) fi), b = sum((spend // 128)), c = sum(if ((spend + -32000) <= -1) then (((((spend + -32000) * -1) * 5) // 64) * -1) else (((spend + -32000) * 5) // 64) fi @1/10)

SELECT WIDTH_BUCKET(age, 18, 65, 5) AS b, COUNT(*) AS n FROM people GROUP BY b
--> people(10) | by b = if (6 <= if (((((age + -18) * 5) // 47) + 1) <= 0) then 0 else ((((age + -18) * 5) // 47) + 1) fi) then 6 else if (((((age + -18) * 5) // 47) + 1) <= 0) then 0 else ((((age + -18) * 5) // 47) + 1) fi fi [7] in 3 | n = count()

SELECT AVG(CAST(spend AS NUMERIC(10, 2))) AS a, AVG(CAST(spend AS DOUBLE PRECISION)) AS b FROM people
--> people(10) | a = mean((((spend * 25) + 16) // 32) @1/100), b = mean(spend)

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (error = 50, privacy_unit_column = person_id) COUNT(*) AS n FROM people
--> people(10) | n = count()

SELECT DISTINCT region FROM people
--> people(10) | by region = region [2] in 3 | 

SELECT region FROM people GROUP BY region
--> people(10) | by region = region [2] in 3 | 

SELECT COUNT(DISTINCT age) FROM people
--> people(10) | distinct_age = distinct(age)

SELECT COUNT(person_id) FROM people
--> people(10) | count = count()

SELECT COUNT(*) FROM people WHERE joined < CURRENT_DATE
--> people(10) where (joined < 2024-06-30) | count = count()

SELECT COUNT(*) FROM people WHERE joined + INTERVAL '1' MONTH > '2020-01-01'
--> people(10) where (2020-01-01 < lookup(joined: 4018)) | count = count()

SELECT COUNT(*) FROM people LIMIT 0
--> people(10) | by column_1 = 0 [1] |  | show count = column_1 | limit 0

SELECT COUNT(*) FROM people LIMIT 5 OFFSET 5
--> people(10) | count = count() | limit 5 | offset 5

SELECT COUNT(*) FROM people FETCH FIRST 3 ROWS ONLY
--> people(10) | count = count() | limit 3

SELECT COUNT(*) AS n FROM people ORDER BY n DESC NULLS FIRST
--> people(10) | n = count() | order -is_missing(n), -n

SELECT AVG(age) AS m FROM people ORDER BY m NULLS FIRST
--> people(10) | m = mean(age) | order -is_missing(m), m

SELECT LN(age), COUNT(*) FROM people GROUP BY 1
--> people(10) | by key_1 = lookup(age: 120) @1/131072 [120] in 3 | count = count()

SELECT VAR_SAMP(age) FROM people
--> people(10) | variance_age = variance(age), count_age = count(age) | show column_1 = ((variance_age * count_age) / (count_age - 1))

SELECT STDDEV_SAMP(age) FROM people
--> people(10) | variance_age = variance(age), count_age = count(age) | show column_1 = sqrt(((variance_age * count_age) / (count_age - 1)))

SELECT VARIANCE_SAMP(age) FROM people
--> people(10) | variance_age = variance(age), count_age = count(age) | show column_1 = ((variance_age * count_age) / (count_age - 1))

SELECT "stddev_samp"(age) FROM people
--> people(10) | variance_age = variance(age), count_age = count(age) | show column_1 = sqrt(((variance_age * count_age) / (count_age - 1)))

SELECT APPROX_COUNT_DISTINCT(region) AS r, APPROX_DISTINCT(person_id) AS p, COUNT(DISTINCT (person_id)) AS q, COUNT(people.*) AS n FROM people
--> people(10) | r = distinct(region), p = units(), n = count() | show r = r, p = p, q = p, n = n

SELECT COUNT(*) AS n FROM people WHERE joined <= '2024-01-31T23:59:59.999Z'::timestamptz AND region LIKE '%' || 'or' || '%'
--> people(10) where (((joined * 86400) <= 2024-01-31 23:59:59) and lookup(region: 2)) | n = count()
