import luaparse from 'luaparse';
import { othersFor } from './constants.mjs';

const OPERATORS = new Map([
  ['<', ['boundary', '<=']],
  ['<=', ['boundary', '<']],
  ['>', ['boundary', '>=']],
  ['>=', ['boundary', '>']],
  ['+', ['sign', '-']],
  ['-', ['sign', '+']],
  ['==', ['equality', '~=']],
  ['~=', ['equality', '==']],
  ['and', ['connective', 'or']],
  ['or', ['connective', 'and']],
]);

/** Every small mistake in one Lua script: `{ rule, start, end, text }`. */
export function luaMistakes(file, source) {
  // A file of includes/ may end in the middle of what its reader goes on with: it is read as it stands.
  const tree = luaparse.parse(source, { ranges: true, luaVersion: '5.1', comments: false });
  const mistakes = [];
  const text = ({ range: [start, end] }) => source.slice(start, end);
  const add = (rule, [start, end], other) => mistakes.push({ rule, start, end, text: other });

  const visitors = {
    BinaryExpression: (node) => binary(node),
    LogicalExpression: (node) => binary(node),
    UnaryExpression(node) {
      if (node.operator === 'not') add('equality', node.range, `(${text(node.argument)})`);
      if (node.operator === '-') add('sign', node.range, text(node.argument));
    },
    NumericLiteral(node) {
      for (const other of othersFor(node.value)) add('constant', node.range, `${other}`);
    },
    BooleanLiteral: (node) => add('constant', node.range, `${!node.value}`),
    CallStatement: (node) => add('statement', node.range, ''),
    AssignmentStatement: (node) => add('statement', node.range, ''),
    IfClause: (node) => condition(node.condition),
    ElseifClause: (node) => condition(node.condition),
    StringLiteral(node) {
      const option = { "'NX'": "'XX'", "'PX'": "'EX'", "'GET'": undefined }[node.raw];
      if (option) add('constant', node.range, option);
    },
  };

  function binary(node) {
    const other = OPERATORS.get(node.operator);
    const [from, to] = [node.left.range[1], node.right.range[0]];
    const at = source.slice(from, to).indexOf(node.operator);
    if (other && at >= 0) {
      const start = from + at;
      add(other[0], [start, start + node.operator.length], other[1]);
    }
    if (node.operator === '-') {
      add('operands', node.range, `(${text(node.right)}) - (${text(node.left)})`);
    }
  }

  function condition(node) {
    add('branch', node.range, 'true');
    add('branch', node.range, 'false');
  }

  walk(tree, visitors);
  return mistakes;
}

function walk(node, visitors) {
  if (Array.isArray(node)) return node.forEach((each) => walk(each, visitors));
  if (!node || typeof node !== 'object') return;
  if (isOperand(node)) return;
  if (node.type) visitors[node.type]?.(node);
  for (const [name, value] of Object.entries(node)) if (name !== 'range') walk(value, visitors);
}

/** `KEYS[1]`: with another number every script fails at once. */
function isOperand({ type, base, index }) {
  const operands = type === 'IndexExpression' && ['KEYS', 'ARGV'].includes(base.name);
  return operands && index.type === 'NumericLiteral';
}
