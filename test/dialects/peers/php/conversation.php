<?php
// Answers what the tests ask: a question a line on stdin, an answer a line on stdout.

/** Each answer is a function of a name, and of a length in ms; what has none is answered with true. */
function converse(array $answers): void
{
    while (($line = fgets(STDIN)) !== false) {
        $question = json_decode($line, true);
        $answer = $answers[$question['ask']] ?? fn () => true;
        echo json_encode($answer($question['name'] ?? '', $question['ttl'] ?? 0)), "\n";
    }
}

/** A connection of phpredis or of predis, as a script is told: its server's port, and which. */
function connected(string $port, string $client): object
{
    if ($client === 'predis') {
        require 'Predis/autoload.php';

        return new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $port]);
    }
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) $port);

    return $redis;
}
