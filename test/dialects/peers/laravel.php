<?php
// Laravel's Cache::lock, for the tests: a question a line on stdin, an answer a line on stdout.

require '/usr/share/php/Illuminate/Cache/autoload.php';

use Illuminate\Cache\RedisLock;

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $argv[1]);

/** What Laravel's own connection makes of these calls (illuminate/redis is no package of Debian's). */
final class Connection
{
    public function __construct(private Redis $redis)
    {
    }

    public function set($key, $value, $unit, $ttl, $when)
    {
        return $this->redis->set($key, $value, [$when, $unit => $ttl]);
    }

    public function eval($script, $keys, ...$operands)
    {
        return $this->redis->eval($script, $operands, $keys);
    }
}

$prefix = 'laravel_database_laravel_cache_';
$connection = new Connection($redis);
$held = [];

while (($line = fgets(STDIN)) !== false) {
    $question = json_decode($line, true);
    $name = $question['name'] ?? '';
    switch ($question['ask']) {
        case 'acquire':
            $lock = new RedisLock($connection, $prefix . $name, (int) ceil($question['ttl'] / 1000));
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
