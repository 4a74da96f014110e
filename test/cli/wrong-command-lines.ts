/** Each part of what is secret here. */
export const SECRET = /us3r|pl4nt|w0rd/i;

const URL_OF_REDIS = 'redis://us3r:pl4nted@host';
const MISPLACED = 'A URL of Redis stands behind --url, or in REDIS_URL.';

/** Command lines with a mistake in each, and what the program says of it. */
export const WRONG: readonly (readonly [words: readonly string[], says: string])[] = [
  [
    [],
    'Name a command: list, inspect, watch, release, doctor, scripts. See nest-redis-lock --help.',
  ],
  [['lst'], 'There is no command "lst". Commands: list, inspect, watch, release, doctor, scripts.'],
  [['constructor'], 'There is no command "constructor".'],
  [['redis://us3r:pl4nted@host'], 'There is no command. Commands: '],
  [['list', '--urll=redis://us3r:pl4nted@host'], 'There is no option --urll.'],
  [['list', '--redis://us3r:pl4nted@host'], 'There is no option. '],
  [['list', '-x'], 'There is no option -x. A key that begins with "-" stands behind "--".'],
  [['list', '--url'], 'Option --url needs a value: write --url=…'],
  [['list', '--url', '--tls'], 'Option --url needs a value'],
  [['list', '--json=yes'], 'Option --json takes no value: write --json alone.'],
  [['list', '--db', '1', '--db', '2'], 'Option --db is given twice: give it once.'],
  [['list', 'a', 'b'], 'Quote it, so that the shell leaves "*" alone: list \'account:*\'.'],
  [['inspect'], 'inspect needs the key of a lock, without the prefix: inspect account:42.'],
  [['inspect', 'a', 'b'], "inspect takes one key. Quote a key with spaces: inspect 'a b'."],
  [['inspect', ''], 'A lock’s key is empty.'],
  [['inspect', 'a\u001b[31mb'], 'A lock’s key has a control character in it'],
  [['list', ''], 'A pattern of keys is a string of up to 1000000 bytes'],
  [['doctor', 'a'], 'doctor takes options alone.'],
  [['scripts', 'a', 'b'], 'scripts takes one name.'],
  [['scripts', 'pl4nted'], 'There is no such script. "nest-redis-lock scripts" shows the names.'],
  [
    ['doctor', '--dialect', 'redisson'],
    'Option --dialect belongs to list, inspect, watch, release, not to doctor.',
  ],
  [['list', '--yes'], 'Option --yes belongs to release, not to list.'],
  [['list', '--limit', '0'], '--limit takes a whole number from 1 to 10000.'],
  [['list', '--limit', 'all'], '--limit takes a whole number from 1 to 10000.'],
  [['list', '--timeout', '5'], '--timeout takes a time from 50 ms to 600000 ms: --timeout 5s.'],
  [['list', '--timeout', 'pl4nted'], '--timeout takes a time'],
  [['watch', '--interval', '1ms'], '--interval takes a time from 100 ms to 86400000 ms'],
  [['watch', '--for', 'pl4nted'], '--for takes a time from 0 ms to '],
  [
    ['list', '--prefix', 'a{b'],
    'Option --prefix takes a string of up to 256 characters without braces.',
  ],
  [['list', '--dialect', 'pl4nted'], 'There is no such dialect. Dialects: native, plain'],
  [['list', '--dialect', '{"name":"pl4nted"}'], 'There is no such dialect. Dialects: native'],
  [['list', '--dialect', '{name'], '--dialect takes a name, or JSON'],
  [['list', '--dialect', 'spring'], 'Dialect "spring" needs the key of the registry'],
  [['list', '--db', 'one'], '--db takes the number of a database: --db 0.'],
  [
    ['list', '--url=redis://a', '--cluster=a:1'],
    '--url and --cluster exclude each other: give one of them.',
  ],
  [['list', '--sentinel=a:1'], 'Sentinels need both --sentinel host:port and --master name.'],
  [['list', '--master=a'], 'Sentinels need both --sentinel host:port and --master name.'],
  [
    ['list', '--sentinel=redis://us3r:pl4nted@host', '--master=a'],
    '--sentinel takes host:port,host:port.',
  ],
  [['list', '--cluster=a:1', '--db=1'], '--cluster and --db exclude each other'],
  [['list', '--cluster=us3r:pl4nted'], 'Option --cluster: a node of "cluster" is no URL'],
  [['list', '--ca=/no/such/file'], 'The file of --ca cannot be read (ENOENT): give its path.'],
  [['list', '--cert=a'], 'A client certificate needs both --cert and --key, each a file.'],
  [
    ['list', '--url=us3r:pl4ntedw0rd@host'],
    'Option --url takes a URL that begins with redis:// or rediss://.',
  ],
  [['list', '--url=redis://us3r:pl4nted#w0rd@host:port'], 'Option --url is no URL'],
  ...['list', 'watch', 'inspect', 'release'].map(
    (name) => [[name, URL_OF_REDIS], MISPLACED] as const,
  ),
  ...['prefix', 'dialect', 'db', 'ca', 'cert', 'key', 'servername', 'timeout', 'limit'].map(
    (name) => [['list', `--${name}`, URL_OF_REDIS], MISPLACED] as const,
  ),
  [['list', '--sentinel=a:1', `--master=${URL_OF_REDIS}`], MISPLACED],
  [['watch', `--interval=${URL_OF_REDIS}`], MISPLACED],
  [['watch', `--for=${URL_OF_REDIS}`], MISPLACED],
  [['list', '--', ' REDISS://us3r:pl4nted@host'], MISPLACED],
  [['inspect', 'valkeys://us3r:pl4nted@host'], MISPLACED],
];
