"""What the Valkey store asks of its server in one atomic step each: taking the store, writing a batch, letting go.

A script runs alone and whole. What can refuse a write (no memory, a disk error, a replica that may not be written to)
refuses the first of a script, and keys of a wrong kind are looked for before it, so a batch is stored all or not at
all. Each names the lease of its writer: who has lost it changes nothing.

`{room:NAME}:meta` holds `schema`, `owner` (the lease's secret word; none: nobody), `name` (who that is, for people),
`until` (ms of the server's clock; later the lease may be taken) and `batch` (the number of the last batch).
"""

from __future__ import annotations

from typing import Final

_NOW = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function until_ms(lease) return string.format('%.0f', now + tonumber(lease)) end
"""

TAKE: Final = (
    _NOW
    + """
-- KEYS: meta. ARGV: owner, name, lease ms, schema, the end of a lease that has stood still (or '').
local meta = redis.call('HMGET', KEYS[1], 'schema', 'owner', 'until', 'name', 'batch')
if meta[1] and tonumber(meta[1]) ~= tonumber(ARGV[4]) then return {'schema', meta[1]} end
if meta[2] and meta[2] ~= ARGV[1] and now < tonumber(meta[3]) and meta[3] ~= ARGV[5] then
  return {'held', meta[4], meta[3]}
end
redis.call('HSET', KEYS[1], 'schema', ARGV[4], 'owner', ARGV[1], 'name', ARGV[2], 'until', until_ms(ARGV[3]),
  'batch', meta[5] or '0')
return {'taken', meta[5] or '0'}
"""
)
"""Answers `taken` and the last batch's number, `held` with who has it and until when, or `schema` with its number."""

WRITE: Final = (
    _NOW
    + """
-- KEYS: meta, then those that are written. ARGV: owner, number of the batch, lease ms, the kind of each key but meta,
-- then operations: name, index of the key, number of words, words.
local meta = redis.call('HMGET', KEYS[1], 'owner', 'batch', 'name')
if not meta[2] then return {'gone'} end
if meta[1] ~= ARGV[1] then return {'lost', meta[3] or ''} end
local ahead = tonumber(ARGV[2]) - tonumber(meta[2])
if ahead ~= 0 and ahead ~= 1 then return {'forgot', meta[2]} end
if ahead == 1 then
  for i = 2, #KEYS do
    local kind = redis.call('TYPE', KEYS[i]).ok
    if kind ~= 'none' and kind ~= ARGV[i + 2] then return {'kind', KEYS[i], kind} end
  end
end
-- Written anew also when the batch is here already: who asks again waits for a write of this connection to be synced.
redis.call('HSET', KEYS[1], 'batch', ARGV[2], 'until', until_ms(ARGV[3]))
if ahead == 0 then return {'here'} end
local at = 3 + #KEYS
while at <= #ARGV do
  local name, key, count = ARGV[at], KEYS[tonumber(ARGV[at + 1])], tonumber(ARGV[at + 2])
  local first, last = at + 3, at + 2 + count
  if name == 'PAGE' then -- length, offset, bytes: a page is as long as it will ever be from the start
    if redis.call('EXISTS', key) == 0 then redis.call('SETRANGE', key, tonumber(ARGV[first]) - 1, '\\0') end
    redis.call('SETRANGE', key, ARGV[first + 1], ARGV[first + 2])
  elseif name == 'CODES' then
    for i = first, last do redis.call('HSETNX', key, ARGV[i], '') end
  elseif name == 'USE' then
    if redis.call('HEXISTS', key, ARGV[first]) == 1 then redis.call('HSET', key, ARGV[first], ARGV[last]) end
  else
    redis.call(name, key, unpack(ARGV, first, last))
  end
  at = last + 1
end
return {'stored'}
"""
)
"""Answers `stored`, or `here` when this batch was stored before; `gone`, `lost`, `forgot`, `kind`: nothing changed.

The batch after the last one is stored; the last one may be asked for again, when its answer was lost. Any other number
means that the server has forgotten batches, or that somebody else has written.
"""

PROLONG: Final = (
    _NOW
    + """
-- KEYS: meta. ARGV: owner, number of the last batch, lease ms.
local meta = redis.call('HMGET', KEYS[1], 'owner', 'batch', 'name')
if not meta[2] then return {'gone'} end
if meta[1] ~= ARGV[1] then return {'lost', meta[3] or ''} end
if tonumber(ARGV[2]) ~= tonumber(meta[2]) then return {'forgot', meta[2]} end
redis.call('HSET', KEYS[1], 'until', until_ms(ARGV[3]))
return {'prolonged'}
"""
)
"""Answers `prolonged`; `gone`, `lost`, `forgot`: nothing changed.

No batch ever goes this way, so a number that is not the server's own says that it has forgotten one.
"""

RELEASE: Final = """
-- KEYS: meta. ARGV: owner.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return {'lost'} end
redis.call('HDEL', KEYS[1], 'owner', 'until', 'name') -- a server whose memory is full takes away, but sets nothing
return {'released'}
"""

PROBE: Final = """
-- KEYS: one of no meaning. Whatever a batch or a reading may need is tried once, and the key is gone again.
redis.call('DEL', KEYS[1])
local tries = {
  {'SETRANGE', '0', 'x'}, {'MGET'}, {'EXISTS'}, {'TYPE'}, {'DEL'},
  {'HSET', 'a', 'b'}, {'HSETNX', 'a', 'c'}, {'HEXISTS', 'a'}, {'HGET', 'a'}, {'HMGET', 'a'},
  {'HSCAN', '0'}, {'HDEL', 'a'},
  {'SADD', '1'}, {'SMEMBERS'}, {'DEL'}, {'RPUSH', 'x'}, {'LRANGE', '0', '-1'}, {'DEL'},
}
for _, try in ipairs(tries) do redis.call(try[1], KEYS[1], unpack(try, 2)) end
redis.call('TIME')
return {'allowed'}
"""
"""Raises what an account may not do, before it could stop a batch half way."""

ALL: Final = (PROBE, TAKE, WRITE, PROLONG, RELEASE)
