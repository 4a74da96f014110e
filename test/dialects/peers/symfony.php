<?php
// symfony/lock's RedisStore, for the tests: a question a line on stdin, an answer a line on stdout.

require '/usr/share/php/Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $argv[1]);
$reads = ($argv[2] ?? '') === 'read';
$held = [];

while (($line = fgets(STDIN)) !== false) {
    $question = json_decode($line, true);
    $name = $question['name'] ?? '';
    switch ($question['ask']) {
        case 'acquire':
            $seconds = $question['ttl'] / 1000;
            $factory = new LockFactory(new RedisStore($redis, $seconds));
            $lock = $factory->createLock($name, $seconds, false);
            $answer = $reads ? $lock->acquireRead() : $lock->acquire();
            if ($answer) {
                $held[$name] = $lock;
            }
            break;
        case 'release':
            $answer = $held[$name]->isAcquired();
            $held[$name]->release();
            break;
        default:
            $answer = true;
    }
    echo json_encode($answer), "\n";
}
