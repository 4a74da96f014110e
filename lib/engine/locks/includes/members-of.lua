-- How a lease of several permits stands in `holders`: as a few members, so that no script is longer for many permits.
-- Its first member is "<holder>#<permits>" and scored by the lease's end, like the one member of a lease of one permit. The other permits are a sum of
-- powers of two: each power has a member "<first>#<band>" and is worth 2^(band - 1) permits. Its score is the end too, moved up into the band.
-- 10,000 permits are 9 members. All members of a lease come and go together.

-- The bound below which all first members are: no lease ends so late.
local FIRSTS = '(PERMIT_BAND'

-- The first member of a lease.
local function member_of(holder, count)
  return (tonumber(count) or 1) > 1 and holder .. '#' .. count or holder
end

-- The names of all its members, and all of them as ZADD takes them.
local function members_of(holder, count, ends)
  local first, others, band = member_of(holder, count), (tonumber(count) or 1) - 1, 1
  local names, scored = { first }, { ends, first }
  while others > 0 do
    if others % 2 == 1 then
      local name = first .. '#' .. band
      names[#names + 1], scored[#scored + 1], scored[#scored + 2] = name, band * PERMIT_BAND + ends, name
    end
    others, band = math.floor(others / 2), band + 1
  end
  return names, scored
end
