import ts from 'typescript';
import { othersFor } from './constants.mjs';

const { SyntaxKind: Kind } = ts;

/** Operators, and what a slip of the pen writes instead: boundaries, signs, equalities, the wrong connective. */
const OPERATORS = new Map([
  [Kind.LessThanToken, ['boundary', '<=']],
  [Kind.LessThanEqualsToken, ['boundary', '<']],
  [Kind.GreaterThanToken, ['boundary', '>=']],
  [Kind.GreaterThanEqualsToken, ['boundary', '>']],
  [Kind.PlusToken, ['sign', '-']],
  [Kind.MinusToken, ['sign', '+']],
  [Kind.AsteriskToken, ['sign', '/']],
  [Kind.SlashToken, ['sign', '*']],
  [Kind.PlusEqualsToken, ['sign', '-=']],
  [Kind.MinusEqualsToken, ['sign', '+=']],
  [Kind.EqualsEqualsEqualsToken, ['equality', '!==']],
  [Kind.ExclamationEqualsEqualsToken, ['equality', '===']],
  [Kind.AmpersandAmpersandToken, ['connective', '||']],
  [Kind.BarBarToken, ['connective', '&&']],
]);

/** Operands that mean something else the other way round. */
const ORDERED = new Set([Kind.MinusToken, Kind.SlashToken, Kind.QuestionQuestionToken]);

/** Calls that let something go: what forgets them leaks. */
const RELEASES = /^(unref|off|removeListener|removeAllListeners|removeEventListener|clearTimeout)$/;

/** Every small mistake in the code of one TypeScript file: `{ rule, start, end, text }`. */
export function typescriptMistakes(file, source) {
  const root = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mistakes = [];
  const add = (rule, node, text) =>
    mistakes.push({ rule, start: node.getStart(root), end: node.getEnd(), text });

  const visit = (node) => {
    if (isNoCode(node)) return;
    if (ts.isBinaryExpression(node)) binary(node, add, root);
    else if (ts.isPrefixUnaryExpression(node)) unary(node, add, root);
    else if (ts.isNumericLiteral(node)) constant(node, add, root);
    else if (node.kind === Kind.TrueKeyword) add('constant', node, 'false');
    else if (node.kind === Kind.FalseKeyword) add('constant', node, 'true');
    else if (ts.isAwaitExpression(node))
      add('await', node, `void ${node.expression.getText(root)}`);
    else if (ts.isIfStatement(node)) branch(node, add);
    else if (ts.isConditionalExpression(node)) {
      add('branch', node.condition, 'true');
      add('branch', node.condition, 'false');
    } else if (ts.isExpressionStatement(node)) statement(node, add);
    else if (ts.isReturnStatement(node) && !node.expression) add('branch', node, ';');
    else if (ts.isCallExpression(node)) call(node, add, root);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return mistakes;
}

/** Types, imports and what only names things have no behaviour. */
function isNoCode(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isDecorator(node)
  );
}

function binary(node, add, root) {
  const { kind } = node.operatorToken;
  const other = OPERATORS.get(kind);
  const joinsText = kind === Kind.PlusToken && /['"`]/.test(node.getText(root));
  if (other && !joinsText) add(other[0], node.operatorToken, other[1]);
  if (ORDERED.has(kind)) {
    const [left, right] = [node.left.getText(root), node.right.getText(root)];
    const between = node.operatorToken.getText(root);
    add('operands', node, `(${right}) ${between} (${left})`);
  }
}

function unary(node, add, root) {
  if (node.operator === Kind.ExclamationToken) add('equality', node, node.operand.getText(root));
  if (node.operator === Kind.MinusToken) add('sign', node, node.operand.getText(root));
}

function constant(node, add, root) {
  if (ts.isElementAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent)) {
    add('constant', node, `${number(node, root) + 1}`);
    return;
  }
  for (const other of othersFor(number(node, root))) add('constant', node, `${other}`);
}

function number(node, root) {
  return Number(node.getText(root).replaceAll('_', ''));
}

function branch(node, add) {
  add('branch', node.expression, 'true');
  add('branch', node.expression, 'false');
  if (node.elseStatement) add('branch', node.elseStatement, '{}');
}

function statement(node, add) {
  const { expression } = node;
  if (ts.isStringLiteral(expression)) return;
  const called = ts.isCallExpression(expression) && expression.expression;
  if (called && called.kind === Kind.SuperKeyword) return;
  const name = called && ts.isPropertyAccessExpression(called) ? called.name.text : '';
  add(RELEASES.test(name) ? 'release' : 'statement', node, ';');
}

function call(node, add, root) {
  const { expression } = node;
  if (!ts.isPropertyAccessExpression(expression)) return;
  const object = expression.expression.getText(root);
  const name = expression.name.text;
  if (object === 'Math' && (name === 'min' || name === 'max')) {
    add('operands', expression, name === 'min' ? 'Math.max' : 'Math.min');
  }
  if (name === 'unref' && !ts.isExpressionStatement(node.parent)) add('release', node, object);
  if (name === 'filter' && node.arguments.length === 1) add('branch', node, object);
}
