-- Tell those who listen that a lock is free, where its format has a channel for that; also on an older one, if there is one.
local function wake_waiters(publish, channel, older, message)
  for _, at in ipairs({ channel, older }) do
    if at ~= '' then
      redis.pcall(publish, at, message)
    end
  end
end
