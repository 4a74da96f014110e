package peers;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** The locks of a RedisLockRegistry of Spring Integration, of one of its two types. */
final class SpringLocks implements Locks {
    private final RedisConnectionFactory connections;
    private final RedisLockType type;
    /** By how long their locks last, which is said to a registry. */
    private final Map<Long, RedisLockRegistry> registries = new HashMap<>();
    private final Map<Long, RedisLockRegistry> renewing = new HashMap<>();
    private final Map<String, Lock> held = new HashMap<>();

    SpringLocks(int port, String type) {
        this.connections = SpringConnections.to(port);
        this.type = RedisLockType.valueOf(type);
    }

    @Override
    public boolean acquire(String name, long ttl) {
        return had(name, lock(name, ttl).tryLock(), ttl);
    }

    @Override
    public boolean await(String name) throws InterruptedException {
        return had(name, lock(name, 60_000).tryLock(60, TimeUnit.SECONDS), 60_000);
    }

    @Override
    public boolean keep(String name, long ttl) {
        Lock lock = renewing.computeIfAbsent(ttl, this::renewing).obtain(name);
        if (!lock.tryLock()) return false;
        held.put(name, lock);
        return true;
    }

    /** Of a lock that it holds for as long as it did. */
    @Override
    public boolean renew(String name, long ttl) {
        registries.get(ttl).renewLock(name);
        return true;
    }

    @Override
    public boolean release(String name) {
        held.remove(name).unlock();
        return true;
    }

    private Lock lock(String name, long ttl) {
        return registries.computeIfAbsent(ttl, this::registry).obtain(name);
    }

    private boolean had(String name, boolean got, long ttl) {
        if (got) held.put(name, lock(name, ttl));
        return got;
    }

    private RedisLockRegistry registry(long ttl) {
        var registry = new RedisLockRegistry(connections, "app:locks", ttl);
        registry.setRedisLockType(type);
        return registry;
    }

    private RedisLockRegistry renewing(long ttl) {
        var scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        RedisLockRegistry registry = registry(ttl);
        registry.setRenewalTaskScheduler(scheduler);
        return registry;
    }
}
