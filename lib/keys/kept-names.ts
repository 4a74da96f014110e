import { type Node, parseExpressionAt, type Pattern } from 'acorn';
import { parameterNames, patternNames } from './parameter-names.js';

type AnyFunction = (...args: never[]) => unknown;

/** The least letters of a name that a minifier does not hand out: it takes them by ones, twos and, late, threes. */
const LONG = 4;
/** A minifier leaves no space before the brace of `work(id) {`. */
const FORMATTED = /\)\s+\{/;

/**
 * True where a parameter's name in the source is surely the author's. A minifier gives short names anew, and the
 * `e` of a template could be another parameter's by then. A name in the class that no minifier would give shows
 * that it kept them all. Two letters come up so seldom that code which looks unchanged is taken for it.
 */
export function isAuthorsName(name: string, method: AnyFunction, owner: unknown): boolean {
  if (isOurCodeShortened()) return hasLongNames(method) || hasLongNames(owner);
  if (name.length > 2) return true;
  if (
    name.length === 2 &&
    (FORMATTED.test(sourceOf(method)) || parameterNames(method).size === 1)
  ) {
    return true;
  }
  return hasLongNames(method) || hasLongNames(owner);
}

/** True in a bundle that had this library minified with the application. */
function isOurCodeShortened(): boolean {
  return !parameterNames((parameterName: string) => parameterName).has('parameterName');
}

/** Whether a parameter or a variable in the source has a name that no minifier gives. */
function hasLongNames(code: unknown): boolean {
  if (typeof code !== 'function') return false;
  const source = sourceOf(code as AnyFunction);
  for (const text of [`(${source})`, `({${source}})`, `(class{${source}})`]) {
    try {
      const options = { ecmaVersion: 'latest', checkPrivateFields: false } as const;
      return binds(parseExpressionAt(text, 0, { ...options, allowSuperOutsideMethod: true }));
    } catch {
      // not of this form
    }
  }
  return false;
}

/** Whether the code binds a long name: the names of functions and classes are kept more often than others. */
function binds(code: unknown): boolean {
  if (typeof code !== 'object' || code === null) return false;
  if (Array.isArray(code)) return code.some(binds);
  const { type, params, id, param } = code as Node & Record<string, unknown>;
  const patterns: unknown[] = [];
  if (Array.isArray(params)) patterns.push(...(params as unknown[]));
  if (type === 'VariableDeclarator') patterns.push(id);
  if (type === 'CatchClause' && param) patterns.push(param);
  const names = patterns.flatMap((pattern) => [...patternNames(pattern as Pattern, 0).keys()]);
  return names.some((name) => name.length >= LONG) || Object.values(code).some(binds);
}

function sourceOf(code: AnyFunction): string {
  return Function.prototype.toString.call(code);
}
