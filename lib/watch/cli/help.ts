/** The text of `--help`. */
export const HELP = `Looks at the locks of nest-redis-lock in Redis, and releases one that is stuck.

Usage: nest-redis-lock <command> [options]

Commands
  list [pattern]     the locks that are held, and who waits for them
  inspect <key>      one lock: its holders, its lease and its queue
  watch [pattern]    the same as list, drawn again and again until Ctrl+C
  release <key>      takes a lock from its holder, after a question
  doctor             looks for what is wrong with this Redis, and says what to change
  scripts [name]     the names of the Lua scripts, or the text of one

  A pattern is a key in which * stands for any text, in quotes: 'account:*'.
  Keys and patterns are without the prefix. Behind "--" a key may begin with "-".

Where Redis is (default: REDIS_URL, else redis://127.0.0.1:6379)
  --url <url>            redis://user:password@host:port/db, or rediss://… for TLS
  --cluster <nodes>      nodes of a Redis Cluster: host:port,host:port
  --sentinel <nodes>     Sentinels: host:port,host:port; with --master
  --master <name>        the name of the primary that the Sentinels watch
  --db <number>          the database
  --tls                  TLS, also without rediss://
  --ca <file>            the certificate of the authority to trust (implies --tls)
  --cert <file>          a client certificate, with --key
  --key <file>           its key
  --servername <name>    the name in the server's certificate
  --timeout <time>       how long to try to connect (default: 5s)

  REDIS_USERNAME and REDIS_PASSWORD stand for a user and password that no URL has;
  REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD are those of the Sentinels.
  Prefer the environment: other users of the machine can see command lines.

Options
  --prefix <text>        the keyPrefix of the application (default: lock:)
  --dialect <name>       of list, inspect, watch and release: the format of the locks;
                         with options as JSON: '{"name":"spring","registry":"locks"}'
  --limit <n>            of list and watch: the most locks (default: 1000)
  --interval <time>      of watch: how long between two looks (default: 1s)
  --for <time>           of watch: ends after this time
  -y, --yes              of release: does not ask
  --json                 JSON on standard output; of watch one object in each line
  -h, --help             this text
  -V, --version          the version

  A time is 500ms, 10s, 5m, 2h or 1d.

Exit codes
  0  fine
  1  the lock is not there, or was not released; doctor found a problem
  2  the command line is wrong
  3  Redis could not be asked`;
