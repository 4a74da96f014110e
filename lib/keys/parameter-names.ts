import { parseExpressionAt, type Pattern } from 'acorn';

/** Where an argument lies: the parameter's position, then a path for a destructured one. */
export interface ArgumentPlace {
  readonly index: number;
  readonly path: readonly string[];
  /** A rest parameter: all arguments from the position on. */
  readonly rest?: boolean;
}

/**
 * The names of a function's parameters, destructured ones included, read from its source. Empty for
 * native functions and wrappers; after a minifier the names that it gave (`isAuthorsName` tells).
 */
export function parameterNames(method: (...args: never[]) => unknown): Map<string, ArgumentPlace> {
  const patterns = parameters(Function.prototype.toString.call(method));
  return new Map(patterns.flatMap((pattern, index) => [...patternNames(pattern, index)]));
}

/** The names that one parameter binds. */
export function patternNames(pattern: Pattern, index: number): Map<string, ArgumentPlace> {
  const places = new Map<string, ArgumentPlace>();
  collect(pattern, { index, path: [] }, places);
  return places;
}

function parameters(source: string): readonly Pattern[] {
  for (const text of [`({${source}})`, `(${source})`, `(class{${source}})`]) {
    try {
      const expression = parseExpressionAt(text, 0, {
        ecmaVersion: 'latest',
        allowSuperOutsideMethod: true,
        checkPrivateFields: false,
      });
      const inner =
        expression.type === 'ParenthesizedExpression' ? expression.expression : expression;
      if (inner.type === 'FunctionExpression' || inner.type === 'ArrowFunctionExpression')
        return inner.params;
      const member =
        inner.type === 'ObjectExpression'
          ? inner.properties[0]
          : inner.type === 'ClassExpression'
            ? inner.body.body[0]
            : undefined;
      const value = member && 'value' in member ? member.value : undefined;
      if (value?.type === 'FunctionExpression') return value.params;
    } catch {
      // not of this form
    }
  }
  return [];
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
