-- Take locks that are free, without waiters, and whose version nobody reads. Nothing else is done, and no other lock is touched.
-- Returns the clock alone for 'each is held for the whole ttl, with all tokens, the first of which is the clock', or below 0 for 'too late'. Otherwise returns for each lock what acquire returns, or 0 for a lock that needs the full script.
local fence = KEYS[1]
local not_after, ttl, tokens, process = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include now_us, mint_fencing_tokens

local now, locks = now_us(), (#KEYS - 1) / 3
if now > tonumber(not_after) then
  return -now
end
local all_free = redis.call('EXISTS', unpack(KEYS, 2)) == 0
local before, behind, token, count = process .. '/', tokens == '0' and '', now, 0
local answers, simple = {}, true
for i = 1, locks do
  local lock, queue, version = KEYS[1 + i], KEYS[1 + locks + i], KEYS[1 + 2 * locks + i]
  local id = ARGV[4 + i]
  answers[i] = 0
  if all_free or redis.call('EXISTS', lock, queue, version) == 0 then
    if not behind then
      token, count = mint_fencing_tokens(fence, now, tonumber(tokens)) -- one mint serves all locks (see `mint_together`)
      behind = '/' .. token_text(token)
    end
    local set = redis.pcall('SET', lock, before .. id .. behind, 'NX', 'PX', ttl)
    if set then
      answers[i] = set.err and set or token == now and now or { 'held', tonumber(ttl), now, 0, token, count }
    end
  end
  simple = simple and answers[i] == now
end
return simple and now or answers
