package peers;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import redis.clients.jedis.Jedis;

/** ShedLock's RedisLockProvider, which compares before it deletes if it is "safe". */
final class ShedLocks implements Locks {
    /** A lock, and what stands at its key: unlock() tells nobody whether that was still so. */
    private record Held(SimpleLock lock, String value) {}

    private final RedisLockProvider provider;
    private final Jedis redis;
    private final Map<String, Held> held = new HashMap<>();

    ShedLocks(int port, String how) {
        this.provider = new RedisLockProvider.Builder(SpringConnections.to(port))
            .safeUpdate("safe".equals(how))
            .build();
        this.redis = new Jedis("127.0.0.1", port);
    }

    @Override
    public boolean acquire(String name, long ttl) {
        var job = new LockConfiguration(Instant.now(), name, Duration.ofMillis(ttl), Duration.ZERO);
        return had(name, provider.lock(job));
    }

    @Override
    public boolean renew(String name, long ttl) {
        return had(name, held.remove(name).lock().extend(Duration.ofMillis(ttl), Duration.ZERO));
    }

    @Override
    public boolean release(String name) {
        Held mine = held.remove(name);
        boolean own = mine.value().equals(value(name));
        mine.lock().unlock();
        return own;
    }

    private boolean had(String name, Optional<SimpleLock> lock) {
        lock.ifPresent(one -> held.put(name, new Held(one, value(name))));
        return lock.isPresent();
    }

    private String value(String name) {
        return String.valueOf(redis.get("job-lock:default:" + name));
    }
}
