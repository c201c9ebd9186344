-- Shapes that are still refused though privacy does not ask for that: they are computed from released answers alone, or
-- name a cohort.  A test says so as soon as one of them is accepted; it then moves to tools.sql.

select "_"."region", "_"."a0" from (select "rows"."region" as "region", count(*) as "a0" from "public"."people" "rows" group by "rows"."region") "_" where not "_"."a0" is null limit 1000001
with all_values as (select region as value_field, count(*) as n_records from public.people group by region) select * from all_values where value_field not in ('north', 'south')
select "t1"."region", "t1"."n" from (select "t0"."region", count(*) as "n" from "people" as "t0" group by 1) as "t1" where "t1"."n" > 10 order by "t1"."n" desc
select region, count(*) as n, count(*) * 100.0 / sum(count(*)) over () as pct from people group by region
select region, count(*) as n, rank() over (order by count(*) desc) as r from people group by region
select region, member, count(*) from people group by rollup (region, member)
select region, member, count(*) from people group by cube (region, member)
select region, member, count(*) from people group by grouping sets ((region), (member), ())
select 'all' as who, count(*) as n from people union all select 'members' as who, count(*) as n from people where member
select count(*) from people where person_id in (select person_id from visits where cost > 100)
select count(*) from people p where exists (select 1 from visits v where v.person_id = p.person_id)
select corr(age, spend), covar_pop(age, spend), regr_slope(spend, age) from people
