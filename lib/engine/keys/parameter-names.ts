import { type Expression, type Node, parseExpressionAt, type Pattern } from 'acorn';

type AnyFunction = (...args: never[]) => unknown;

/** The place of an argument: the parameter's position, then a path for a destructured one. */
export interface ArgumentPlace {
  readonly index: number;
  readonly path: readonly string[];
  /** True for a rest parameter: all arguments from the position on. */
  readonly rest?: boolean;
}

/**
 * The names of a function's parameters, destructured ones included, read from its source. Native functions and wrappers
 * have none; minified code has those of the minifier (`isAuthorsName` tells).
 */
export function parameterNames(method: AnyFunction): Map<string, ArgumentPlace> {
  const patterns = parameters(sourceOf(method));
  return new Map(patterns.flatMap((pattern, index) => [...patternNames(pattern, index)]));
}

/** The names that one parameter binds. */
function patternNames(pattern: Pattern, index: number): Map<string, ArgumentPlace> {
  const places = new Map<string, ArgumentPlace>();
  collect(pattern, { index, path: [] }, places);
  return places;
}

function parameters(source: string): readonly Pattern[] {
  for (const read of readings(source)) {
    if (read.type === 'FunctionExpression' || read.type === 'ArrowFunctionExpression') {
      return read.params;
    }
    const [member] =
      read.type === 'ObjectExpression'
        ? read.properties
        : read.type === 'ClassExpression'
          ? read.body.body
          : [];
    const value = member && 'value' in member ? member.value : undefined;
    if (value?.type === 'FunctionExpression') return value.params;
  }
  return [];
}

/** The source of a function or a class, read as each form of expression that it may be. */
function* readings(source: string): Generator<Expression> {
  for (const text of [`({${source}})`, `(${source})`, `(class{${source}})`]) {
    try {
      yield parseExpressionAt(text, 0, {
        ecmaVersion: 'latest',
        allowSuperOutsideMethod: true,
        checkPrivateFields: false,
      });
    } catch {
      // the source is not of this form
    }
  }
}

function collect(pattern: Pattern, place: ArgumentPlace, places: Map<string, ArgumentPlace>): void {
  switch (pattern.type) {
    case 'Identifier':
      places.set(pattern.name, place);
      return;
    case 'AssignmentPattern':
      return collect(pattern.left, place, places);
    case 'RestElement':
      if (place.path.length === 0) collect(pattern.argument, { ...place, rest: true }, places);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type !== 'Property' || property.computed || property.key.type !== 'Identifier')
          continue;
        collect(property.value, { ...place, path: [...place.path, property.key.name] }, places);
      }
      return;
    case 'ArrayPattern':
      pattern.elements.forEach((element, at) => {
        if (element) collect(element, { ...place, path: [...place.path, String(at)] }, places);
      });
      return;
    default:
  }
}

/** The least letters of a name that a minifier does not give: it gives names of one, two and, late, three. */
const LONG = 4;
/** A minifier leaves no space before the brace of `work(id) {`. */
const FORMATTED = /\)\s+\{/;

/**
 * Whether a parameter's name in the source is surely the author's. A minifier gives short names anew, and the `e` of a
 * template could be another parameter's by then. A name in the class that no minifier would give shows that all names were
 * kept. A minifier gives two letters so seldom that code which looks unchanged counts as unchanged.
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

/** True in a bundle in which this library was minified with the application. */
function isOurCodeShortened(): boolean {
  return !parameterNames((parameterName: string) => parameterName).has('parameterName');
}

/** Whether the source names a parameter or a variable as no minifier would. */
function hasLongNames(code: unknown): boolean {
  if (typeof code !== 'function') return false;
  const { value } = readings(sourceOf(code as AnyFunction)).next();
  return binds(value);
}

/** Whether code binds a long name to a parameter or a variable; minifiers often keep the names of functions and classes. */
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
