-- Shapes that are still refused though privacy does not ask for that: they are computed from released answers alone.  A
-- test says so as soon as one of them is accepted; it then moves to tools.sql.

select region, member, count(*) from people group by rollup (region, member)
select region, member, count(*) from people group by cube (region, member)
select region, member, count(*) from people group by grouping sets ((region), (member), ())
select 'all' as who, count(*) as n from people union all select 'members' as who, count(*) as n from people where member
