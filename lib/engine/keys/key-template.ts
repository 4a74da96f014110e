import { LockOptionsError } from '../errors/index.js';
import { encodeValue, separates } from './lock-key.js';
import { lockName } from './lock-name.js';

/** Reads the value of a template's name from a call. */
export type Reader<Source> = (source: Source) => unknown;

/** The meanings of the names in a template. */
export interface Names<Source> {
  /** The reader of a name; undefined if there is no such name. */
  reader(name: string): Reader<Source> | undefined;
  /** The spelling of a `step` in a path such as `<dto.id>`, where the value is read; by default as it is written. */
  step?(name: string, step: string): string;
  /** The owner of the template, for messages: `@Locked on Accounts.withdraw`. */
  readonly owner: string;
  /** Why the name has no reader, which names there are, and what to do. */
  remedy(name: string): string;
}

const HOLE = /<([^<>]*)>/g;
/** The forms in which other template languages and routes write a value: {id}, ${id}, ::id or /:id. */
const FOREIGN_HOLE = /\$?\{([^{}]+)\}|(?<=^|[:/]):([\p{ID_Start}_$][\p{ID_Continue}$]*)/gu;
const PATH = /^[\p{ID_Continue}$-]+(?:\.[\p{ID_Continue}$-]+)*$/u;

/**
 * Makes the key, or the keys, of a call from templates.
 * @throws LockOptionsError as {@link keyTemplate}, or if there is no template.
 */
export function keyReader<Source>(
  key: string | readonly string[],
  names: Names<Source>,
): (source: Source) => string | readonly string[] {
  if (typeof key === 'string') {
    const keyOf = keyTemplate(key, names);
    lockName(key.replaceAll(HOLE, 'x'));
    return keyOf;
  }
  if (!Array.isArray(key)) {
    throw new LockOptionsError(`The key of ${names.owner} is neither a text nor a function.`);
  }
  if (key.length === 0) throw new LockOptionsError(`The list of keys of ${names.owner} is empty.`);
  const parts = Array.from(key, (each: string) => keyReader(each, names)); // a gap in the list is no key
  return (source) => parts.flatMap((keyOf) => keyOf(source));
}

/** The longest name made from templates; a longer one is cut. */
const LONGEST_NAME = 200;

/** The name of a decorator's locks in events: its templates, or `otherwise` if there are none. */
export function nameOfKey(key: unknown, otherwise?: string): string | undefined {
  const templates = typeof key === 'string' ? key : Array.isArray(key) ? key.join(', ') : '';
  const name = templates === '' ? otherwise : templates;
  if (name === undefined || name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME - 1)}…`;
}

/**
 * Makes the key of a call from a template like `account:<id>` or `doc:<dto.id>`; each value is encoded.
 * @throws LockOptionsError if a hole is malformed, its name has no meaning, or no `:` parts it from the one before.
 */
export function keyTemplate<Source>(
  template: string,
  names: Names<Source>,
): (source: Source) => string {
  const parts: (string | Reader<Source>)[] = [];
  refuseForeignHoles(template, names);
  let end = 0;
  for (const hole of template.matchAll(HOLE)) {
    const text = template.slice(end, hole.index);
    if (end > 0 && !separates(text)) {
      throw new LockOptionsError(
        `The key "${template}" of ${names.owner} lets a value run into ${hole[0]}: write ":" before it.`,
      );
    }
    parts.push(text, valueOf(template, hole[1]!, names));
    end = hole.index + hole[0].length;
  }
  parts.push(template.slice(end));
  if (parts.some((part) => typeof part === 'string' && /[<>]/.test(part))) {
    throw new LockOptionsError(
      `The key "${template}" of ${names.owner} has a "<" or ">" without its partner.`,
    );
  }
  if (parts.every((part) => part === '')) {
    throw new LockOptionsError(`The key of ${names.owner} is empty.`);
  }
  return (source) => {
    let key = '';
    for (const part of parts) key += typeof part === 'string' ? part : part(source);
    return key;
  };
}

/** @throws LockOptionsError if a name is written like `{id}` or `:id`. Here that is plain text, so all calls would share one lock. */
function refuseForeignHoles<Source>(template: string, names: Names<Source>): void {
  for (const [found, inBraces, inRoute] of template.replaceAll(HOLE, '<>').matchAll(FOREIGN_HOLE)) {
    const path = (inBraces ?? inRoute)!.trim();
    if (!PATH.test(path) || !names.reader(path.split('.')[0]!)) continue;
    throw new LockOptionsError(
      `The key "${template}" of ${names.owner} contains ${found}, which is plain text: write <${path}>.`,
    );
  }
}

function valueOf<Source>(
  template: string,
  path: string,
  names: Names<Source>,
): (source: Source) => string {
  if (!PATH.test(path)) {
    throw new LockOptionsError(
      `The key "${template}" of ${names.owner} has "<${path}>": write <name>, <name.path> or <0>.`,
    );
  }
  const [name, ...written] = path.split('.') as [string, ...string[]];
  const steps = written.map((step) => names.step?.(name, step) ?? step);
  const read = names.reader(name);
  if (!read) {
    throw new LockOptionsError(
      `The key "${template}" of ${names.owner} names <${name}>. ${names.remedy(name)}`,
    );
  }
  const said = `<${path}> in the lock's key "${template}"`;
  if (steps.length === 0) return (source) => encodeValue(read(source), said);
  return (source) => {
    let value = read(source);
    for (const step of steps) value = (value as Record<string, unknown> | null | undefined)?.[step];
    return encodeValue(value, said);
  };
}
