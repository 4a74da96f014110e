<?php
// Laravel's Cache::lock, for the tests: a question a line on stdin, an answer a line on stdout. The application is named
// "Shop"; connection and store are made of its configuration as RedisServiceProvider and CacheManager make them.

require '/usr/share/php/Illuminate/Redis/autoload.php';
require '/usr/share/php/Illuminate/Cache/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Redis\RedisManager;

$config = [
    'client' => 'phpredis',
    'options' => ['cluster' => 'redis', 'prefix' => 'shop_database_'],
    'default' => ['host' => '127.0.0.1', 'port' => $argv[1], 'database' => '0'],
];
$redis = new RedisManager(null, $config['client'], $config);
$store = new RedisStore($redis, 'shop_cache', 'default');
$held = [];

while (($line = fgets(STDIN)) !== false) {
    $question = json_decode($line, true);
    $name = $question['name'] ?? '';
    switch ($question['ask']) {
        case 'acquire':
            $lock = $store->lock($name, (int) ceil($question['ttl'] / 1000));
            $answer = $lock->acquire();
            if ($answer) {
                $held[$name] = $lock;
            }
            break;
        case 'release':
            $answer = $held[$name]->release();
            break;
        default:
            $answer = true;
    }
    echo json_encode($answer), "\n";
}
