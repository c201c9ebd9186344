-- Statements of the shapes that programs write, one in each line, by program.  What follows the semicolon is what comes of
-- it: nothing if it has a price, `free` if public facts answer it, `refused rows` if it asks for what single people have.

-- psql: a person at a terminal
SELECT count(*) FROM people;
SELECT region, count(*) FROM people GROUP BY region;
SELECT region, count(*) FROM public.people GROUP BY 1 ORDER BY 2 DESC;
SELECT avg(age), stddev_pop(age), min(age), max(age) FROM people;
SELECT count(DISTINCT person_id) FROM people WHERE region = 'north';
SELECT 1; --free
SELECT region FROM people GROUP BY region; --free
SELECT DISTINCT region FROM people ORDER BY region; --free
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY spend) FROM people;
SELECT sum(spend) FILTER (WHERE member) AS members, sum(spend) AS everybody FROM people;
SELECT round(avg(spend)::numeric, 2) FROM people;
SELECT extract(year FROM joined) AS y, count(*) FROM people GROUP BY y ORDER BY y;
SELECT width_bucket(age, 0, 100, 10) AS bucket, count(*) FROM people GROUP BY bucket ORDER BY bucket;
SELECT count(*) FROM people WHERE joined > current_date - interval '1 year';
SELECT to_char(joined, 'YYYY-MM') AS month, count(*) FROM people GROUP BY 1 ORDER BY 1;
SELECT region, bool_or(member), every(age >= 18) FROM people GROUP BY region;
SELECT count(*) FROM people WHERE region ~ '^no';
SELECT upper(region) || ' ' || extract(year FROM joined) AS label, count(*) FROM people GROUP BY 1;
SELECT * FROM people LIMIT 10; --refused rows
SELECT person_id, spend FROM people ORDER BY spend DESC LIMIT 1; --refused rows
SELECT string_agg(note, ', ') FROM people; --refused rows
SELECT max(spend) FROM people WHERE person_id = 17; --refused rows

-- pgjdbc and DBeaver
SELECT COUNT(*) AS "ROWCOUNT" FROM "public"."people"
SELECT x.region, count(x.*) FROM public.people x GROUP BY x.region
SELECT count(1) FROM public.people x WHERE x.age >= 18 AND x.age < 65
SELECT p.region AS "Region", p.member AS "Member", count(*) AS "Count" FROM public.people p GROUP BY p.region, p.member ORDER BY p.region, p.member
SELECT x.* FROM public.people x; --refused rows
SELECT x.* FROM public.people x WHERE 1 = 0; --free
SELECT * FROM public.people WHERE false; --free
SELECT * FROM public.people LIMIT 0; --free
SELECT NULL; --free
SELECT 1 AS "keep_alive"; --free
SELECT count(*) FROM people.public.people
SELECT region, sum(spend) AS total FROM public.people WHERE region IN ('north', 'south') GROUP BY region HAVING sum(spend) > 1000 ORDER BY total DESC NULLS LAST OFFSET 0 ROWS FETCH FIRST 10 ROWS ONLY
SELECT max(joined) AS last_one, min(joined) AS first_one FROM public.people

-- Superset
SELECT region AS region, COUNT(*) AS "COUNT(*)" FROM public.people GROUP BY region ORDER BY "COUNT(*)" DESC LIMIT 10000
SELECT DATE_TRUNC('day', joined) AS joined, COUNT(*) AS count FROM public.people WHERE joined >= TO_DATE('2024-01-01', 'YYYY-MM-DD') AND joined < TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('day', joined) ORDER BY count DESC LIMIT 10000
SELECT DATE_TRUNC('month', joined) AS joined, region AS region, AVG(spend) AS "AVG(spend)" FROM public.people WHERE joined >= TO_TIMESTAMP('2023-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND joined < TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', joined), region LIMIT 50000
SELECT DATE_TRUNC('quarter', joined) AS "joined", sum(spend) AS "SUM(spend)" FROM public.people GROUP BY 1 LIMIT 1000
SELECT DATE_TRUNC('week', joined) AS joined, COUNT(DISTINCT person_id) AS "COUNT_DISTINCT(person_id)" FROM public.people GROUP BY DATE_TRUNC('week', joined) LIMIT 10000
SELECT COUNT(*) AS count FROM public.people WHERE region IN ('north') LIMIT 50000
SELECT region AS region FROM public.people GROUP BY region LIMIT 10000; --free
SELECT DISTINCT region AS region FROM public.people LIMIT 1000; --free
SELECT SUM(spend) / NULLIF(COUNT(DISTINCT person_id), 0) AS "spend per person" FROM public.people LIMIT 50000
SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS band, COUNT(*) AS "COUNT(*)" FROM public.people GROUP BY CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END ORDER BY "COUNT(*)" DESC LIMIT 1000
SELECT region AS region, COUNT(*) AS "COUNT(*)" FROM (SELECT * FROM public.people WHERE age > 18) AS virtual_table GROUP BY region ORDER BY "COUNT(*)" DESC LIMIT 1000
SELECT COUNT(*) AS rowcount FROM (SELECT region, age FROM public.people) AS rowcount_qry
SELECT MIN(age) AS min, MAX(age) AS max FROM public.people LIMIT 1
SELECT region AS region, member AS member, AVG(age) AS "AVG(age)", COUNT(*) AS "COUNT(*)" FROM public.people WHERE ((age >= 18)) AND ((1 = 1)) GROUP BY region, member ORDER BY "COUNT(*)" DESC LIMIT 100
SELECT region AS region FROM public.people WHERE region ILIKE '%or%' GROUP BY region LIMIT 1000; --free
SELECT * FROM public.people LIMIT 1001; --refused rows

-- Metabase
SELECT COUNT(*) AS "count" FROM "public"."people"
SELECT "public"."people"."region" AS "region", COUNT(*) AS "count" FROM "public"."people" GROUP BY "public"."people"."region" ORDER BY "public"."people"."region" ASC
SELECT DATE_TRUNC('month', "public"."people"."joined") AS "joined", COUNT(*) AS "count" FROM "public"."people" GROUP BY DATE_TRUNC('month', "public"."people"."joined") ORDER BY DATE_TRUNC('month', "public"."people"."joined") ASC
SELECT CAST("public"."people"."joined" AS date) AS "joined", SUM("public"."people"."spend") AS "sum" FROM "public"."people" GROUP BY CAST("public"."people"."joined" AS date) ORDER BY CAST("public"."people"."joined" AS date) ASC
SELECT FLOOR(("public"."people"."age" / 10.0)) * 10.0 AS "age", COUNT(*) AS "count" FROM "public"."people" GROUP BY FLOOR(("public"."people"."age" / 10.0)) * 10.0 ORDER BY FLOOR(("public"."people"."age" / 10.0)) * 10.0 ASC
SELECT ((FLOOR((("public"."people"."spend" - 0.0) / 50.0)) * 50.0) + 0.0) AS "spend", COUNT(*) AS "count" FROM "public"."people" GROUP BY ((FLOOR((("public"."people"."spend" - 0.0) / 50.0)) * 50.0) + 0.0) ORDER BY 1 ASC
SELECT AVG("public"."people"."spend") AS "avg", MIN("public"."people"."age") AS "min", MAX("public"."people"."age") AS "max" FROM "public"."people" WHERE "public"."people"."region" = 'north'
SELECT COUNT(distinct "public"."people"."person_id") AS "count" FROM "public"."people" WHERE ("public"."people"."joined" >= DATE_TRUNC('month', NOW())) AND ("public"."people"."joined" < DATE_TRUNC('month', (NOW() + INTERVAL '1 month')))
SELECT COUNT(*) AS "count" FROM "public"."people" WHERE "public"."people"."joined" >= CAST((NOW() + INTERVAL '-30 day') AS date) AND "public"."people"."joined" < CAST(NOW() AS date)
SELECT COUNT(*) AS "count" FROM "public"."people" WHERE "public"."people"."joined" >= timestamp with time zone '2024-01-01 00:00:00.000Z' AND "public"."people"."joined" < timestamp with time zone '2024-02-01 00:00:00.000Z'
SELECT (CAST(extract(dow from "public"."people"."joined") AS integer) + 1) AS "joined", COUNT(*) AS "count" FROM "public"."people" GROUP BY (CAST(extract(dow from "public"."people"."joined") AS integer) + 1) ORDER BY 1 ASC
SELECT CAST(extract(month from "public"."people"."joined") AS integer) AS "joined", COUNT(*) AS "count" FROM "public"."people" GROUP BY CAST(extract(month from "public"."people"."joined") AS integer) ORDER BY CAST(extract(month from "public"."people"."joined") AS integer) ASC
SELECT SUM(CASE WHEN "public"."people"."member" = TRUE THEN 1 ELSE 0.0 END) AS "count-where" FROM "public"."people"
SELECT (CAST(SUM(CASE WHEN "public"."people"."age" > 30 THEN 1 ELSE 0.0 END) AS float) / NULLIF(COUNT(*), 0)) AS "share" FROM "public"."people"
SELECT COUNT(*) AS "count" FROM "public"."people" WHERE (lower("public"."people"."region") like '%or%')
SELECT COUNT(*) AS "count" FROM "public"."people" WHERE ("public"."people"."region" <> 'north' OR "public"."people"."region" IS NULL)
SELECT COUNT(*) AS "count" FROM "public"."people" WHERE "public"."people"."age" BETWEEN 18 AND 64 AND "public"."people"."spend" IS NOT NULL
SELECT "public"."people"."region" AS "region" FROM "public"."people" GROUP BY "public"."people"."region" ORDER BY "public"."people"."region" ASC LIMIT 1000; --free
SELECT PERCENTILE_CONT(0.5) within group (order by "public"."people"."spend") AS "median" FROM "public"."people"
SELECT STDDEV_POP("public"."people"."age") AS "stddev", VAR_POP("public"."people"."age") AS "var" FROM "public"."people"
SELECT "public"."people"."region" AS "region", "public"."people"."member" AS "member", COUNT(*) AS "count", SUM("public"."people"."spend") AS "sum" FROM "public"."people" GROUP BY "public"."people"."region", "public"."people"."member" ORDER BY "count" DESC, "public"."people"."region" ASC LIMIT 2000
SELECT "public"."people"."age" AS "age", "public"."people"."spend" AS "spend" FROM "public"."people" LIMIT 2000; --refused rows

-- Tableau
SELECT "people"."region" AS "region", SUM(1) AS "sum:Number of Records:ok" FROM "public"."people" "people" GROUP BY 1
SELECT SUM("people"."spend") AS "sum:spend:ok" FROM "public"."people" "people" HAVING (COUNT(1) > 0)
SELECT DATE_TRUNC( 'MONTH', CAST("people"."joined" AS TIMESTAMP) ) AS "tmn:joined:ok", AVG(CAST("people"."spend" AS DOUBLE PRECISION)) AS "avg:spend:ok" FROM "public"."people" "people" GROUP BY 1
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "people"."joined")) AS INTEGER) AS "yr:joined:ok", COUNT(DISTINCT "people"."person_id") AS "ctd:person_id:ok" FROM "public"."people" "people" GROUP BY 1
SELECT CAST("people"."region" AS TEXT) AS "region", CAST("people"."member" AS TEXT) AS "member", COUNT(1) AS "cnt" FROM "public"."people" "people" GROUP BY 1, 2
SELECT (CASE WHEN ("people"."age" >= 18) THEN 'adult' WHEN NOT ("people"."age" >= 18) THEN 'minor' ELSE NULL END) AS "Calculation_1", COUNT(1) AS "cnt:people:ok" FROM "public"."people" "people" GROUP BY 1
SELECT FLOOR("people"."age" / 10) AS "age (bin)", COUNT("people"."person_id") AS "cnt:person_id:ok" FROM "public"."people" "people" GROUP BY 1
SELECT MIN("people"."joined") AS "min:joined:ok", MAX("people"."joined") AS "max:joined:ok" FROM "public"."people" "people" HAVING (COUNT(1) > 0)
SELECT "people"."region" AS "region" FROM "public"."people" "people" GROUP BY 1 ORDER BY 1 ASC NULLS FIRST; --free
SELECT * FROM "public"."people" LIMIT 0; --free
SELECT "people"."region" AS "region", PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "people"."spend") AS "med:spend:ok" FROM "public"."people" "people" WHERE (("people"."joined" >= (DATE '2023-01-01')) AND ("people"."joined" < (DATE '2024-01-01'))) GROUP BY 1
SELECT DATE_TRUNC( 'QUARTER', CAST("people"."joined" AS TIMESTAMP) ) AS "tqr:joined:ok", "people"."region" AS "region", SUM("people"."spend") AS "sum:spend:ok" FROM "public"."people" "people" WHERE ("people"."region" IN ('north', 'south')) GROUP BY 1, 2
SELECT STDDEV_SAMP("people"."age") AS "std:age:ok" FROM "public"."people" "people"
SELECT LEFT("people"."region", 1) AS "first", RIGHT("people"."region", 2) AS "last", COUNT(1) AS "n" FROM "public"."people" "people" GROUP BY 1, 2
SELECT TO_CHAR("people"."joined", 'FMDay') AS "wd", COUNT(1) AS "n" FROM "public"."people" "people" GROUP BY 1

-- Power BI
select count(*) as "a0" from "public"."people" "rows"
select "rows"."region" as "region", sum("rows"."spend") as "a0" from "public"."people" as "rows" group by "rows"."region"
select "$Table"."region" as "region", count(1) as "a0" from "public"."people" "$Table" where "$Table"."age" >= 18 group by "$Table"."region" limit 1000001 offset 0
select "_"."region", sum(cast("_"."spend" as decimal)) as "a0" from (select "region", "spend" from "public"."people") "_" group by "_"."region"
select "_"."region" as "c1", "_"."member" as "c2", avg(cast("_"."age" as double precision)) as "a0" from (select "$Ordered"."region", "$Ordered"."member", "$Ordered"."age" from "public"."people" "$Ordered") "_" group by "_"."region", "_"."member" limit 1000001
select distinct "rows"."region" as "region" from "public"."people" "rows" limit 101; --free
select min("rows"."age") as "a0", max("rows"."age") as "a1", count(distinct("rows"."person_id")) as "a2" from "public"."people" "rows"
select count(distinct("rows"."region")) + max(case when "rows"."region" is null then 1 else 0 end) as "a0" from "public"."people" "rows"
select "rows"."joined" as "joined", sum("rows"."spend") as "a0" from "public"."people" "rows" where "rows"."joined" >= timestamp '2024-01-01 00:00:00' and "rows"."joined" < timestamp '2024-02-01 00:00:00' group by "rows"."joined"
select * from "public"."people" "$Table" limit 1000; --refused rows

-- Cube
SELECT "people".region "people__region", count(*) "people__count" FROM public.people AS "people" GROUP BY 1 ORDER BY 2 DESC LIMIT 10000
SELECT date_trunc('day', ("people".joined::timestamptz AT TIME ZONE 'UTC')) "people__joined_day", count(*) "people__count" FROM public.people AS "people" WHERE ("people".joined >= '2024-01-01T00:00:00.000Z'::timestamptz AND "people".joined <= '2024-01-31T23:59:59.999Z'::timestamptz) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000
SELECT date_trunc('month', ("people".joined::timestamptz AT TIME ZONE 'UTC')) "people__joined_month", "people".region "people__region", sum("people".spend) "people__spend" FROM public.people AS "people" GROUP BY 1, 2 ORDER BY 1 ASC LIMIT 10000
SELECT count(distinct "people".person_id) "people__people" FROM public.people AS "people" WHERE ("people".region = 'north') LIMIT 10000
SELECT "people".region "people__region", avg("people".spend) "people__spend" FROM public.people AS "people" WHERE ("people".region ILIKE '%' || 'or' || '%') GROUP BY 1 LIMIT 10000
SELECT CASE WHEN ("people".age < 18) THEN 'minor' ELSE 'adult' END "people__band", count(*) "people__count" FROM public.people AS "people" GROUP BY 1 ORDER BY 2 DESC LIMIT 500
SELECT sum(CASE WHEN ("people".member = TRUE) THEN "people".spend END) "people__member_spend", count(CASE WHEN ("people".member = TRUE) THEN 1 END) "people__members" FROM public.people AS "people" LIMIT 10000
SELECT "people".region "people__region", count(*) "people__count" FROM public.people AS "people" WHERE ("people".region IN ('north', 'south') AND "people".age > 21) GROUP BY 1 HAVING (count(*) > 10) ORDER BY 1 ASC LIMIT 100
SELECT round(avg("people".age)) "people__age", stddev_pop("people".age) "people__sd" FROM public.people AS "people" LIMIT 10000

-- Ibis
SELECT COUNT(*) AS "CountStar()" FROM "public"."people" AS "t0"
SELECT "t0"."region", COUNT(*) AS "n", SUM("t0"."spend") AS "total" FROM "public"."people" AS "t0" GROUP BY 1
SELECT "t0"."region", AVG("t0"."age") FILTER(WHERE "t0"."member") AS "m" FROM "people" AS "t0" GROUP BY 1
SELECT COUNT(*) AS "n" FROM (SELECT * FROM "people" AS "t0" WHERE "t0"."age" > 18) AS "t1"
SELECT EXTRACT(year FROM "t0"."joined") AS "y", COUNT(*) AS "n" FROM "people" AS "t0" GROUP BY 1 ORDER BY "y" ASC NULLS LAST
SELECT CAST(COUNT(*) AS BIGINT) AS "n", CAST(SUM("t0"."age") AS DOUBLE PRECISION) AS "s" FROM "people" AS "t0"
SELECT "t0"."age" % 10 AS "k", COUNT(*) AS "n" FROM "people" AS "t0" GROUP BY 1
SELECT COUNT(DISTINCT "t0"."region") AS "r" FROM "people" AS "t0"
SELECT VAR_POP("t0"."spend") AS "v", STDDEV_POP("t0"."spend") AS "s" FROM "people" AS "t0"
SELECT "t0"."region", BOOL_OR("t0"."member") AS "any", BOOL_AND("t0"."member") AS "all" FROM "people" AS "t0" GROUP BY 1
SELECT SUBSTRING("t0"."region", 1, 2) AS "k", COUNT(*) AS "n" FROM "people" AS "t0" GROUP BY 1
SELECT SUM(CAST("t0"."member" AS INT)) AS "members" FROM "people" AS "t0"
SELECT DISTINCT "t0"."region", "t0"."member" FROM "people" AS "t0"; --free
SELECT AVG(LN("t0"."age" + 1)) AS "l", AVG(SQRT("t0"."age")) AS "r", SUM(SIGN("t0"."age" - 40)) AS "s" FROM "people" AS "t0"
SELECT COUNT(*) AS "n" FROM "people" AS "t0" WHERE "t0"."region" ~ 'th$' AND LENGTH("t0"."region") = 5
SELECT ARRAY_AGG("t0"."age") AS "ages" FROM "people" AS "t0"; --refused rows
SELECT * FROM "people" AS "t0" LIMIT 5; --refused rows

-- dbt and people with editors
select * from (select region, age from public.people) as __dbt_sbq where false limit 0; --free
with source as (select * from public.people), renamed as (select region, age, person_id from source) select region, count(*) as n from renamed group by 1
with people_2024 as (select * from public.people where joined >= date '2024-01-01' and joined < date '2025-01-01') select region, count(distinct person_id) as persons from people_2024 group by region order by persons desc
select count(*) as failures, count(*) <> 0 as should_warn, count(*) <> 0 as should_error from (select * from public.people where region is null) dbt_internal_test
select region as unique_field, count(*) as n_records from public.people where region is not null group by region having count(*) > 1
select date_trunc('month', joined)::date as month, sum(spend) as revenue, count(distinct person_id) as buyers, sum(spend) / nullif(count(distinct person_id), 0) as per_buyer from public.people group by 1 order by 1
with per_person as (select person_id, sum(spend) as total, count(*) as visits from public.people group by person_id) select avg(total) as mean_total, avg(visits) as mean_visits, count(*) as persons from per_person
with per_person as (select person_id, region, sum(spend) as total from public.people group by 1, 2) select region, median(total) as typical from per_person group by region
select region, coalesce(sum(spend), 0) as spend, round(100.0 * count(*) filter (where member) / nullif(count(*), 0), 1) as pct from public.people group by region
select case when spend >= 100 then '100+' when spend >= 10 then '10-99' else '0-9' end as bucket, count(*) from public.people group by 1
select count(*) from public.people where joined between current_date - interval '90 days' and current_date
select p.region, avg(v.cost) as cost from public.people p join public.visits v on v.person_id = p.person_id group by p.region
select zone, count(*) as n from public.people join public.regions using (region) group by zone
select to_char(joined, 'IYYY-"W"IW') as week, count(*) as n from public.people where joined >= '2024-01-01' group by 1
select initcap(trim(region)) as region, count(*) from public.people group by 1
select concat(region, '/', case when member then 'm' else '-' end) as cell, count(*) from public.people group by 1
select extract(isodow from joined) as dow, dayname(joined) as name, count(*) from public.people group by 1, 2
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6, privacy_unit_column = person_id) region, COUNT(*) AS n FROM people GROUP BY region
SELECT region, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, DP_INTERVAL_HIGH(n) AS high FROM people GROUP BY region
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (error = 50) COUNT(*) AS n FROM people
select note, count(*) from people group by note order by 2 desc limit 20
select approx_count_distinct(person_id) from people
select var_samp(age) as v, stddev_samp(age) as s from public.people
select region, avg(age) as mean_age, stddev_samp(age) filter (where member) as sd from public.people group by region
select count(*) from people where member is true and region is not null
select floor(age / 5) * 5 as from_age, count(distinct person_id) as persons from people group by 1 order by 1
select greatest(count(*), 0) as n, least(avg(age), 100) as a from people
select date_part('year', joined) as y, date_part('month', joined) as m, count(*) from people group by 1, 2
select count(*) from people where joined >= date_trunc('year', current_date)
select quantile(spend, 0.25) as q1, quantile(spend, 0.75) as q3 from people
select region, mode() within group (order by age) as typical from people group by region
select sum(power(age, 2)) as squares, sum(abs(age - 40)) as away from people

-- Power BI, dbt, Ibis and others: what is computed from an answer, cohorts, and statistics
select "_"."region", "_"."a0" from (select "rows"."region" as "region", count(*) as "a0" from "public"."people" "rows" group by "rows"."region") "_" where not "_"."a0" is null limit 1000001
with all_values as (select region as value_field, count(*) as n_records from public.people group by region) select * from all_values where value_field not in ('north', 'south')
select "t1"."region", "t1"."n" from (select "t0"."region", count(*) as "n" from "people" as "t0" group by 1) as "t1" where "t1"."n" > 10 order by "t1"."n" desc
select region, count(*) as n, count(*) * 100.0 / sum(count(*)) over () as pct from people group by region
select region, count(*) as n, rank() over (order by count(*) desc) as r from people group by region
select count(*) from people where person_id in (select person_id from visits where cost > 100)
select count(*) from people p where exists (select 1 from visits v where v.person_id = p.person_id)
select corr(age, spend), covar_pop(age, spend), regr_slope(spend, age) from people
