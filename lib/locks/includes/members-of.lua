-- How leases stand in `holders`: each is a member with its end as the score. That of several permits is named after their number too, and has one member more
-- for each power of two that the others add up to, in a band of scores of its own: 10,000 permits are 9 members, and all permits are counted in 14 bands.

-- Where the first band begins, and how far it is from each to the next; no lease ends so late. And what is `BELOW` it, as a bound.
local BAND, BELOW = 4398046511104, '(4398046511104'

-- The member that has the lease's end.
local function member_of(holder, count)
  return (tonumber(count) or 1) > 1 and holder .. '#' .. count or holder
end

-- All members of a lease, each behind its score, as ZADD takes them; and their names alone.
local function members_of(holder, count, ends)
  local first, others, band = member_of(holder, count), (tonumber(count) or 1) - 1, 1
  local scored, names = { ends, first }, { first }
  while others > 0 do
    if others % 2 == 1 then
      local name = first .. '#' .. band
      names[#names + 1], scored[#scored + 1], scored[#scored + 2] = name, band * BAND + ends, name
    end
    others, band = math.floor(others / 2), band + 1
  end
  return scored, names
end
