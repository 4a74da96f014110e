<?php
// Laravel's Cache::lock. The application is named "Shop"; connection and store are made of its configuration as
// RedisServiceProvider and CacheManager make them. Told its server's port and which client: phpredis or predis.

require __DIR__ . '/conversation.php';
require 'Illuminate/Redis/autoload.php';
require 'Illuminate/Cache/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Redis\RedisManager;

[, $port, $client] = $argv;
$config = [
    'client' => $client,
    'options' => ['cluster' => 'redis', 'prefix' => 'shop_database_'],
    'default' => ['host' => '127.0.0.1', 'port' => $port, 'database' => '0'],
];
$redis = new RedisManager(null, $config['client'], $config);
$store = new RedisStore($redis, 'shop_cache', 'default');
$held = [];

converse([
    'acquire' => function (string $name, int $ttl) use ($store, &$held): bool {
        $lock = $store->lock($name, (int) ceil($ttl / 1000));
        if (!$lock->acquire()) {
            return false;
        }
        $held[$name] = $lock;

        return true;
    },
    'release' => function (string $name) use (&$held): bool {
        return $held[$name]->release();
    },
]);
