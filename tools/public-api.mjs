// Prints the public surface: what each entry point exports, with its type declaration and without
// comments and private members. `npm run public-api` writes it to test/architecture/public-api.txt,
// where a review sees every change. At the end each type of ours that stands in a public signature
// and that no entry point exports, as `Type in Export`: there should be none.
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { compileTypes } from './package/compile.mjs';
import { ENTRIES } from './package/entries.mjs';

/** By the names that users import. */
const DECLARATIONS = Object.fromEntries(
  Object.entries(ENTRIES).map(([name, path]) => [
    name === 'index' ? 'nest-redis-lock' : `nest-redis-lock/${name}`,
    `${path}.d.ts`,
  ]),
);

const folder = mkdtempSync('.public-api-');
try {
  await compileTypes(folder);
  const files = Object.values(DECLARATIONS).map((file) => join(folder, file));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const surface = Object.entries(DECLARATIONS).map(([entry, file]) => [
    entry,
    exportsOf(program, checker, join(folder, file)),
  ]);
  for (const [entry, symbols] of surface) print(entry, symbols);
  printUnexported(checker, surface);
} finally {
  rmSync(folder, { recursive: true });
}

function exportsOf(program, checker, file) {
  const source = program.getSourceFile(file);
  if (!source) return [];
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  return symbols
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((symbol) => resolved(checker, symbol));
}

function resolved(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function print(entry, symbols) {
  process.stdout.write(`=== ${entry}\n`);
  for (const { declarations = [] } of symbols) {
    process.stdout.write(`\n${declarations.map(declarationText).join('\n')}\n`);
  }
  process.stdout.write('\n');
}

/** A declaration as the compiler prints it, without what only the compiler needs to know. */
function declarationText(node) {
  const whole = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const printed = ts
    .createPrinter({ removeComments: true })
    .printNode(ts.EmitHint.Unspecified, whole, node.getSourceFile());
  return printed.replace(/^(export )?(declare )?/, '').replace(/^ +(#private|private .*);\n/gm, '');
}

function printUnexported(checker, surface) {
  const exported = new Set(surface.flatMap(([, symbols]) => symbols));
  const found = new Set();
  for (const symbol of exported) {
    for (const node of symbol.declarations ?? []) visit(node, symbol);
  }
  process.stdout.write(
    ['=== unexported', ...[...found].sort((a, b) => (a < b ? -1 : 1)), ''].join('\n'),
  );

  function visit(node, within) {
    const flags = ts.canHaveModifiers(node) ? ts.getCombinedModifierFlags(node) : 0;
    if (flags & ts.ModifierFlags.Private) return;
    if (ts.isComputedPropertyName(node)) return; // asyncDispose: users write Symbol.asyncDispose
    if (ts.isIdentifier(node)) {
      const used = checker.getSymbolAtLocation(node);
      const target = used && resolved(checker, used);
      if (target && isOurs(target) && !exported.has(target)) {
        found.add(`${target.name} in ${within.name}`);
      }
    }
    ts.forEachChild(node, (child) => visit(child, within));
  }
}

/** A type, or a value whose type is told, that stands in a file of ours under a name of its own. */
function isOurs({ flags, declarations = [] }) {
  const named = ts.SymbolFlags.Type | ts.SymbolFlags.BlockScopedVariable | ts.SymbolFlags.Function;
  return (
    (flags & named) !== 0 &&
    (flags & ts.SymbolFlags.TypeParameter) === 0 &&
    declarations.some((node) => node.getSourceFile().fileName.startsWith(resolve(folder)))
  );
}
