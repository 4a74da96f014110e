package peers;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Spring's connections, by the client that Spring Boot brings. */
final class SpringConnections {
    private SpringConnections() {}

    static LettuceConnectionFactory to(int port) {
        var factory = new LettuceConnectionFactory("127.0.0.1", port);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }
}
