-- Try commands on a scratch key: one that the user may not use fails here, before a lock is taken that could not be kept or released.
-- Returns 1.
local scratch = KEYS[1]
local commands = ARGV[1]

local operands = {
  exists = {}, get = {}, pttl = {}, type = {}, zcard = {}, hkeys = {}, hlen = {}, del = {}, incr = {},
  set = { '1', 'PX', '1000' }, setnx = { '1' }, getset = { '1' },
  renamenx = { scratch }, pexpire = { '1000' }, pexpireat = { '9999999999999' },
  lpush = { '1' }, ltrim = { '0', '0' },
  hset = { 'a', '1' }, hget = { 'a' }, hdel = { 'a' }, hexists = { 'a' },
  zadd = { '1', 'a' }, zrem = { 'a' }, zscore = { 'a' },
  zrange = { '0', '0' }, zrevrange = { '0', '0' }, zcount = { '0', '1' }, zrangebyscore = { '0', '1' }, zremrangebyscore = { '0', '1' },
}
for command in string.gmatch(commands, '%a+') do
  if command == 'renamenx' then
    redis.call('SET', scratch, '1', 'PX', '1000') -- only a key that exists is renamed
  end
  if operands[command] then
    redis.call(command, scratch, unpack(operands[command]))
    redis.call('DEL', scratch)
  end
end
return 1
