<?php
// symfony/lock's RedisStore. Told its server's port, which client (phpredis or predis), and "read" or "write".

require __DIR__ . '/conversation.php';
require 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

[, $port, $client, $mode] = $argv;
$redis = connected($port, $client);
$held = [];

converse([
    'acquire' => function (string $name, int $ttl) use ($redis, $mode, &$held): bool {
        $factory = new LockFactory(new RedisStore($redis, $ttl / 1000));
        $lock = $factory->createLock($name, $ttl / 1000, false);
        if (!($mode === 'read' ? $lock->acquireRead() : $lock->acquire())) {
            return false;
        }
        $held[$name] = $lock;

        return true;
    },
    'release' => function (string $name) use (&$held): bool {
        $own = $held[$name]->isAcquired();
        $held[$name]->release();

        return $own;
    },
]);
