-- Which holder stands at a lock's name, or which together: a text that is the same for as long as they hold it.
local function sight_of(texts)
  table.sort(texts)
  return redis.sha1hex(table.concat(texts, ' '))
end
