// Prints the public surface: what each entry point exports, with its type declaration and without
// comments and private members. `npm run public-api` writes it to test/architecture/public-api.txt,
// where a review sees every change.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ENTRIES = {
  'nest-redis-lock': 'index.d.ts',
  'nest-redis-lock/testing': 'testing/index.d.ts',
};

const folder = mkdtempSync('.public-api-');
try {
  const emit = ['--outDir', folder, '--emitDeclarationOnly', '--declarationMap', 'false'];
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.esm.json', ...emit]);
  const files = Object.values(ENTRIES).map((file) => join(folder, file));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
  });
  for (const [entry, file] of Object.entries(ENTRIES)) print(program, entry, join(folder, file));
} finally {
  rmSync(folder, { recursive: true });
}

function print(program, entry, file) {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  if (!source) return;
  process.stdout.write(`=== ${entry}\n`);
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  for (const symbol of symbols.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const texts = (target.declarations ?? []).map(declarationText);
    process.stdout.write(`\n${texts.join('\n')}\n`);
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
