import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

/** The options of the connection. */
const WHERE = {
  url: 'string',
  cluster: 'string',
  sentinel: 'string',
  master: 'string',
  db: 'string',
  tls: 'boolean',
  ca: 'string',
  cert: 'string',
  key: 'string',
  servername: 'string',
  timeout: 'string',
  prefix: 'string',
} as const;
const EVERY = { json: 'boolean', help: 'boolean', version: 'boolean' } as const;
/** The options of single commands. */
const SOME = {
  dialect: 'string',
  limit: 'string',
  interval: 'string',
  for: 'string',
  yes: 'boolean',
} as const;
/** All options; a 'string' takes a value. */
export const OPTIONS = { ...WHERE, ...EVERY, ...SOME };

type Option = keyof typeof OPTIONS;
/** The given options: their texts, or true. */
export type Values = {
  readonly [Name in Option]?: (typeof OPTIONS)[Name] extends 'string' ? string : true;
};

interface Command {
  /** The operand of the command, if it takes one. */
  readonly operand?: 'key' | 'pattern' | 'name';
  readonly options: readonly (keyof typeof SOME)[];
}

export const COMMANDS = {
  list: { operand: 'pattern', options: ['dialect', 'limit'] },
  inspect: { operand: 'key', options: ['dialect'] },
  watch: { operand: 'pattern', options: ['dialect', 'limit', 'interval', 'for'] },
  release: { operand: 'key', options: ['dialect', 'yes'] },
  doctor: { options: [] },
  scripts: { operand: 'name', options: [] },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

/** A parsed command line. */
export interface Request {
  readonly command: CommandName | 'help' | 'version';
  /** The key of a lock, a pattern of keys, or the name of a script; `*` for all. */
  readonly operand: string;
  readonly values: Values;
}

const HELP = 'See nest-redis-lock --help.';
const SHORT = { h: 'help', V: 'version', y: 'yes' } as const;
/** Words that an error may repeat: neither a URL nor half of one. */
const WORD = /^[a-z][a-z-]{0,30}$/i;
/** A URL that may have a password, and that a command would print if given as a key, a prefix or a time. */
const REDIS_URL = /^\s*(?:redis|valkey)[a-z+-]*:\/\//i;
/** The options that take URLs; messages never repeat those. */
const READS_URLS: readonly string[] = ['url', 'cluster', 'sentinel'] satisfies Option[];

/**
 * Parses the words of a command line.
 * @throws UsageError with the correct usage; it repeats nothing that may be a secret.
 */
export function parse(words: readonly string[]): Request {
  const tokens = tokensOf(words);
  const values = optionsOf(tokens);
  const [name, ...operands] = tokens.flatMap((token) =>
    token.kind === 'positional' ? [token.value] : [],
  );
  if (values.version) return { command: 'version', operand: '', values };
  if (values.help || name === 'help') return { command: 'help', operand: '', values };
  if (name === undefined) throw new UsageError(`Name a command: ${commandNames()}. ${HELP}`);
  if (!Object.hasOwn(COMMANDS, name)) {
    const shown = WORD.test(name) ? ` "${name}"` : '';
    throw new UsageError(`There is no command${shown}. Commands: ${commandNames()}. ${HELP}`);
  }
  const command = name as CommandName;
  checkOptions(command, values);
  refuseUrls(operands, values);
  return { command, operand: operandOf(command, operands), values };
}

function tokensOf(words: readonly string[]) {
  const named = Object.entries(OPTIONS).map(([name, type]) => {
    const [short] = Object.entries(SHORT).find(([, long]) => long === name) ?? [];
    return [name, { type, ...(short && { short }) }] as const;
  });
  const options = Object.fromEntries(named);
  return parseArgs({ args: [...words], options, strict: false, tokens: true }).tokens;
}

function optionsOf(tokens: ReturnType<typeof tokensOf>): Values {
  const values: Record<string, string | true> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, value, inlineValue } = token;
    if (!Object.hasOwn(OPTIONS, name)) {
      const shown = WORD.test(name) ? ` ${token.rawName.startsWith('--') ? '--' : '-'}${name}` : '';
      throw new UsageError(
        `There is no option${shown}. A key that begins with "-" stands behind "--". ${HELP}`,
      );
    }
    if (name in values) throw new UsageError(`Option --${name} is given twice: give it once.`);
    const takesValue = OPTIONS[name as Option] === 'string';
    if (!takesValue && value !== undefined) {
      throw new UsageError(`Option --${name} takes no value: write --${name} alone.`);
    }
    if (takesValue && (value === undefined || (!inlineValue && value.startsWith('-')))) {
      throw new UsageError(`Option --${name} needs a value: write --${name}=… ${HELP}`);
    }
    values[name] = value ?? true;
  }
  return values as Values;
}

function checkOptions(command: CommandName, values: Values): void {
  const fitting: readonly string[] = [
    ...Object.keys({ ...WHERE, ...EVERY }),
    ...COMMANDS[command].options,
  ];
  const wrong = Object.keys(values).find((name) => !fitting.includes(name));
  if (wrong === undefined) return;
  const takers = Object.entries(COMMANDS)
    .filter(([, { options }]) => (options as readonly string[]).includes(wrong))
    .map(([name]) => name);
  throw new UsageError(`Option --${wrong} belongs to ${takers.join(', ')}, not to ${command}.`);
}

function refuseUrls(operands: readonly string[], values: Values): void {
  const others = Object.entries(values).filter(([name]) => !READS_URLS.includes(name));
  const texts = [...operands, ...others.map(([, value]) => String(value))];
  if (!texts.some((text) => REDIS_URL.test(text))) return;
  throw new UsageError('A URL of Redis stands behind --url, or in REDIS_URL.');
}

function operandOf(command: CommandName, operands: readonly string[]): string {
  const { operand } = COMMANDS[command] as Command;
  const most = operand === undefined ? 0 : 1;
  if (operands.length > most) {
    const takes = {
      key: `${command} takes one key. Quote a key with spaces: ${command} 'a b'`,
      pattern: `${command} takes one pattern. Quote it, so that the shell leaves "*" alone: ${command} 'account:*'`,
      name: `${command} takes one name`,
      none: `${command} takes options alone`,
    }[operand ?? 'none'];
    throw new UsageError(`${takes}.`);
  }
  const [given] = operands;
  if (operand === 'key' && given === undefined) {
    throw new UsageError(
      `${command} needs the key of a lock, without the prefix: ${command} account:42. "nest-redis-lock list" shows the keys.`,
    );
  }
  return given ?? '*';
}

function commandNames(): string {
  return Object.keys(COMMANDS).join(', ');
}
