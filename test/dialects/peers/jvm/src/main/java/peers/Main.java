package peers;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import redis.clients.jedis.Jedis;

/** A client of one library for the JVM: a question a line on stdin, an answer a line on stdout. */
public final class Main {
    private static final Gson JSON = new Gson();

    private final Jedis redis;
    private final Locks locks;

    private Main(Jedis redis, Locks locks) {
        this.redis = redis;
        this.locks = locks;
    }

    /** The server's port, the library, and what that is told. */
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        String kind = args[2];
        Locks locks = switch (args[1]) {
            case "redisson" -> new RedissonLocks(port, kind);
            case "spring" -> new SpringLocks(port, kind);
            case "shedlock" -> new ShedLocks(port, kind);
            case "jedis" -> new ArticleLocks(port, kind);
            default -> throw new IllegalArgumentException(args[1]);
        };
        Main main = new Main(new Jedis("127.0.0.1", port), locks);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Object answer = main.answer(JSON.fromJson(line, JsonObject.class));
            System.out.println(JSON.toJson(answer));
        }
        Runtime.getRuntime().halt(0); // gives nothing back
    }

    private Object answer(JsonObject question) throws Exception {
        String name = question.has("name") ? question.get("name").getAsString() : null;
        long ttl = question.has("ttl") ? question.get("ttl").getAsLong() : 0;
        return switch (question.get("ask").getAsString()) {
            case "hello" -> "PONG".equals(redis.ping());
            case "acquire" -> locks.acquire(name, ttl);
            case "wait" -> awaited(name);
            case "keep" -> locks.keep(name, ttl);
            case "renew" -> locks.renew(name, ttl);
            case "token" -> locks.token(name);
            case "release" -> released(name);
            case "turn" -> turn(name, locks.acquire(name, ttl));
            case "next turn" -> turn(name, locks.await(name));
            default -> throw new IllegalArgumentException(question.toString());
        };
    }

    /** Adds 1 to "asleep" once it sleeps: Redisson forgets what a writer's release tells a thread that does not sleep yet. */
    private boolean awaited(String name) throws Exception {
        Thread waiting = Thread.currentThread();
        Thread watch = new Thread(() -> {
            while (!isAsleep(waiting)) {
                if (Thread.interrupted()) return;
                LockSupport.parkNanos(1_000_000);
            }
            redis.incr("asleep");
        });
        watch.setDaemon(true);
        watch.start();
        try {
            return locks.await(name);
        } finally {
            watch.interrupt();
            watch.join();
        }
    }

    /** Who is told of a release sleeps on a semaphore in Redisson; what waits for an answer does not. */
    private static boolean isAsleep(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().equals(Semaphore.class.getName())) return thread.getState() == Thread.State.TIMED_WAITING;
        }
        return false;
    }

    private boolean released(String name) {
        try {
            return locks.release(name);
        } catch (Exception refused) {
            return false;
        }
    }

    /** Adds 1 to a value that only the lock protects; null where it has not got the lock. Times are CLOCK_MONOTONIC in ms. */
    private Object turn(String name, boolean held) throws Exception {
        if (!held) return null;
        double from = System.nanoTime() / 1e6;
        String value = redis.get("value:" + name);
        Thread.sleep(ThreadLocalRandom.current().nextInt(3));
        redis.set("value:" + name, String.valueOf(value == null ? 1 : Long.parseLong(value) + 1));
        double to = System.nanoTime() / 1e6;
        return Map.of("from", from, "to", to, "released", released(name));
    }
}
