package peers;

/** A library's locks by name, as one client of it has them: all calls come from one thread. */
interface Locks {
    /** Asks once. True if it is held now, for {@code ttl} ms. */
    boolean acquire(String name, long ttl) throws Exception;

    /** False, or an exception, if it was not its own any more. */
    boolean release(String name) throws Exception;

    /** Waits for a minute, as the library does. */
    default boolean await(String name) throws Exception {
        throw new UnsupportedOperationException();
    }

    /** Asks once, and keeps what it has by the library's own renewal; {@code ttl} is what that renews to. */
    default boolean keep(String name, long ttl) throws Exception {
        throw new UnsupportedOperationException();
    }

    /** Lengthens its lease once. */
    default boolean renew(String name, long ttl) throws Exception {
        throw new UnsupportedOperationException();
    }

    /** The fencing token of what it holds. */
    default Long token(String name) {
        throw new UnsupportedOperationException();
    }
}
