import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { filesBelow } from '../architecture/files-below.js';

/** A text that lib can say, with `<…>` for what is put in when it runs. */
export interface Message {
  readonly file: string;
  readonly text: string;
}

/** Every text of three words or more that stands in lib, by the syntax tree: of errors, warnings and what they are put together of. */
export function messagesOfLib(): Message[] {
  return filesBelow('lib', '.ts').flatMap((file) => {
    const source = ts.createSourceFile(
      file,
      readFileSync(file, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    return textsIn(source)
      .filter(isSentence)
      .map((text) => ({ file, text }));
  });
}

function textsIn(node: ts.Node): string[] {
  const text = textOf(node);
  if (text === undefined) return childrenOf(node).flatMap(textsIn);
  return [text, ...holesOf(node).flatMap(textsIn)];
}

/** What a literal, a template or a sum of them says; undefined for any other node. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('<…>');
  }
  if (!isSum(node)) return undefined;
  const sides = [node.left, node.right].map(textOf);
  if (sides.every((side) => side === undefined)) return undefined;
  return sides.map((side) => side ?? '<…>').join('');
}

/** What is put into a text, and may hold texts itself. */
function holesOf(node: ts.Node): ts.Node[] {
  if (ts.isTemplateExpression(node)) return node.templateSpans.map(({ expression }) => expression);
  if (!isSum(node)) return [];
  return [node.left, node.right].flatMap((side) =>
    textOf(side) === undefined ? [side] : holesOf(side),
  );
}

function isSum(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

function isSentence(text: string): boolean {
  return (text.replaceAll('<…>', ' ').match(/[a-z]{2,}/gi) ?? []).length >= 3 && text.includes(' ');
}
