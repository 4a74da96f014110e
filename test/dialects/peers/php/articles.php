<?php
// The two locks of the articles in PHP. Told its server's port, which client (phpredis or predis), and which lock:
// "setnx": a time in seconds, taken over by GETSET when it is past, without a time to live;
// "eval": SET NX PX with a value of one's own, given back by a script that compares it.

require __DIR__ . '/conversation.php';

[, $port, $client, $kind] = $argv;
$redis = connected($port, $client);
$held = [];

const COMPARE_AND_DELETE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

$setnx = [
    'acquire' => function (string $name, int $ttl) use ($redis, &$held): bool {
        $key = $name . '_lock';
        $ends = time() + (int) ceil($ttl / 1000) + 1;
        if (!$redis->setnx($key, (string) $ends)) {
            $seen = $redis->get($key);
            if (!is_string($seen) || (float) $seen >= time()) {
                return false;
            }
            if ($redis->getset($key, (string) $ends) !== $seen) {
                return false;
            }
        }
        $held[$name] = $ends;

        return true;
    },
    'release' => function (string $name) use ($redis, &$held): bool {
        return time() < $held[$name] && (int) $redis->del($name . '_lock') === 1;
    },
];
$eval = [
    'acquire' => function (string $name, int $ttl) use ($redis, $client, &$held): bool {
        $value = bin2hex(random_bytes(20));
        $set = $client === 'predis'
            ? $redis->set($name, $value, 'PX', $ttl, 'NX')
            : $redis->set($name, $value, ['nx', 'px' => $ttl]);
        if (!$set) {
            return false;
        }
        $held[$name] = $value;

        return true;
    },
    'release' => function (string $name) use ($redis, $client, &$held): bool {
        $deleted = $client === 'predis'
            ? $redis->eval(COMPARE_AND_DELETE, 1, $name, $held[$name])
            : $redis->eval(COMPARE_AND_DELETE, [$name, $held[$name]], 1);

        return $deleted === 1;
    },
];
converse($kind === 'setnx' ? $setnx : $eval);
