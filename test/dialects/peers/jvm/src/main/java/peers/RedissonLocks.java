package peers;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks of one kind: RLock, RFencedLock, the two sides of an RReadWriteLock, RFairLock, or a spin lock. */
final class RedissonLocks implements Locks {
    /** What its watchdog renews to, in ms; it does so each third of that. */
    private static final long WATCHDOG = 3_000;

    private final RedissonClient redisson;
    private final String kind;
    private final Map<String, RLock> locks = new HashMap<>();
    private final Map<String, Long> tokens = new HashMap<>();

    RedissonLocks(int port, String kind) {
        Config config = new Config().setThreads(2).setNettyThreads(2).setLockWatchdogTimeout(WATCHDOG);
        config.useSingleServer()
            .setAddress("redis://127.0.0.1:" + port)
            .setConnectionMinimumIdleSize(1)
            .setConnectionPoolSize(4)
            .setSubscriptionConnectionMinimumIdleSize(1);
        this.redisson = Redisson.create(config);
        this.kind = kind;
    }

    @Override
    public boolean acquire(String name, long ttl) throws InterruptedException {
        return tried(name, ttl);
    }

    @Override
    public boolean await(String name) throws InterruptedException {
        return lock(name).tryLock(60_000, 60_000, TimeUnit.MILLISECONDS); // by a thread that sleeps, for an RFencedLock too
    }

    @Override
    public boolean keep(String name, long ttl) throws InterruptedException {
        if (ttl != WATCHDOG) throw new IllegalArgumentException("The watchdog renews to " + WATCHDOG + " ms.");
        return tried(name, -1);
    }

    @Override
    public boolean release(String name) {
        lock(name).unlock();
        return true;
    }

    @Override
    public Long token(String name) {
        return tokens.get(name);
    }

    private boolean tried(String name, long lease) throws InterruptedException {
        if (!(lock(name) instanceof RFencedLock fenced)) {
            return lock(name).tryLock(0, lease, TimeUnit.MILLISECONDS);
        }
        Long token = fenced.tryLockAndGetToken(0, lease, TimeUnit.MILLISECONDS);
        if (token != null) tokens.put(name, token);
        return token != null;
    }

    private RLock lock(String name) {
        return locks.computeIfAbsent(name, each -> switch (kind) {
            case "lock" -> redisson.getLock(each);
            case "fenced" -> redisson.getFencedLock(each);
            case "read" -> redisson.getReadWriteLock(each).readLock();
            case "write" -> redisson.getReadWriteLock(each).writeLock();
            case "fair" -> redisson.getFairLock(each);
            case "spin" -> redisson.getSpinLock(each);
            default -> throw new IllegalArgumentException(kind);
        });
    }
}
