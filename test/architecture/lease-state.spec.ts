import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { filesBelow } from './files-below.js';

/** The state machine of a lease: the type of its state, and the field that has it. */
const OWNER = 'lib/engine/client/leases/held-lease.ts';
const FIELD = 'phase';
/** What a lease stands under: it writes its own request. */
const CLAIM = 'lib/engine/client/leases/claim.ts';

/** The fields of a lease; the owner alone writes them, in its methods. */
const FIELDS = [FIELD, 'state', 'lossReason', 'suspected', 'term', 'renewAt', 'request', 'holds'];

it('is written by one file', () => {
  const others = filesBelow('lib/engine/client', '.ts').filter(
    (file) => file !== OWNER && file !== CLAIM,
  );
  expect(others.flatMap((file) => writes(file).map((field) => `${file}: ${field}`))).toEqual([]);
});

it('is written in that file by a lease about itself', () => {
  const found = [...writes(OWNER), ...writes(CLAIM)];
  expect(found.filter((field) => field === `this.${FIELD}`).length).toBeGreaterThan(4);
  expect(found.filter((field) => !field.startsWith('this.'))).toEqual([]);
});

/** Each assignment to such a field of another object, and each in `this` of a class that is not the owner's. */
function writes(file: string): string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
      ts.isPropertyAccessExpression(node.left) &&
      FIELDS.includes(node.left.name.text)
    ) {
      found.push(node.left.getText(source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
