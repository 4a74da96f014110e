package peers;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/** The locks that articles write in Java by Jedis: "setnx" with a time and GETSET, "owner" and "hash" with a script. */
final class ArticleLocks implements Locks {
    private static final String DELETE_MINE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private static final String ENTER =
        "if (redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1) then "
            + "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return 1 "
            + "else return 0 end";

    private static final String LEAVE =
        "if (redis.call('hexists', KEYS[1], ARGV[1]) == 0) then return -1 "
            + "elseif (redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0) then return redis.call('del', KEYS[1]) "
            + "else return 0 end";

    private static final String RENEW =
        "if (redis.call('hexists', KEYS[1], ARGV[1]) == 1) then return redis.call('pexpire', KEYS[1], ARGV[2]) "
            + "else return 0 end";

    private final Jedis jedis;
    private final String kind;
    private final String id = UUID.randomUUID().toString();
    private final Map<String, Long> ends = new HashMap<>();

    ArticleLocks(int port, String kind) {
        this.jedis = new Jedis("127.0.0.1", port);
        this.kind = kind;
    }

    @Override
    public boolean acquire(String name, long ttl) {
        return switch (kind) {
            case "setnx" -> setnx(name + "_lock", ttl);
            case "owner" -> "OK".equals(jedis.set(name, id, SetParams.setParams().nx().px(ttl)));
            case "hash" -> run(ENTER, name, field(), String.valueOf(ttl)) == 1;
            default -> throw new IllegalArgumentException(kind);
        };
    }

    @Override
    public boolean release(String name) {
        return switch (kind) {
            case "setnx" -> System.currentTimeMillis() < ends.get(name + "_lock") && jedis.del(name + "_lock") == 1;
            case "owner" -> run(DELETE_MINE, name, id) == 1;
            case "hash" -> run(LEAVE, name, field()) >= 0;
            default -> throw new IllegalArgumentException(kind);
        };
    }

    @Override
    public boolean renew(String name, long ttl) {
        return run(RENEW, name, field(), String.valueOf(ttl)) == 1;
    }

    private boolean setnx(String key, long ttl) {
        long expires = System.currentTimeMillis() + ttl + 1;
        boolean locked = jedis.setnx(key, String.valueOf(expires)) == 1;
        if (!locked) {
            String current = jedis.get(key);
            if (current == null || Long.parseLong(current) >= System.currentTimeMillis()) return false;
            String old = jedis.getSet(key, String.valueOf(expires));
            locked = current.equals(old);
        }
        if (locked) ends.put(key, expires);
        return locked;
    }

    private String field() {
        return id + ":" + Thread.currentThread().getId();
    }

    private long run(String script, String key, String... args) {
        return (Long) jedis.eval(script, List.of(key), List.of(args));
    }
}
