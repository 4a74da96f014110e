// Specs that share what they load: Jest loads Nest, ioredis and lib anew for each file, which took half of the processor's
// time of a run. So a run writes files that import some eight specs each, and removes them at its end.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Where the files of a run are, to Jest alone. */
const FOLDER = 'test/.groups';
const SIZE = 8;

/** Of which folders the specs share what they load; elsewhere loading is the least. */
const SHARING =
  /^test\/(contracts|dialects|docs|faults|fencing|nest|sample|security|telemetry|testing|transports|unit)\//;

/** What is meant for a file: such a spec has one of its own. */
const ALONE = /unstable_mockModule/;

/** The paths of the specs that a part runs. */
export function specsOf({ folders, only = folders.map((each) => `${each}/`), skip = [] }) {
  const isOneOf = (patterns, path) => patterns.some((each) => new RegExp(each).test(path));
  return readdirSync('test', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/node_modules|package\/consumers/.test(path))
    .filter((path) => isOneOf(only, path) && !isOneOf(skip, path))
    .sort();
}

/** The files that Jest runs instead of these specs: groups, and specs that have a file of their own. */
export function writeGroups(specs) {
  const isSharing = (path) => SHARING.test(path) && !ALONE.test(readFileSync(path, 'utf8'));
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  const sharing = specs.filter(isSharing);
  const groups = [...new Set(sharing.map(dirname))].flatMap((folder) =>
    dealt(sharing.filter((path) => dirname(path) === folder)).map((paths, at) => {
      const file = join(FOLDER, `${basename(folder)}-${at + 1}.ts`);
      writeFileSync(file, group(paths));
      return file;
    }),
  );
  return [...groups, ...specs.filter((path) => !isSharing(path))];
}

export function removeGroups() {
  rmSync(FOLDER, { recursive: true, force: true });
}

/** As equal as they come, and neighbours, which may be alike, in different ones. */
function dealt(paths) {
  const groups = Array.from({ length: Math.ceil(paths.length / SIZE) }, () => []);
  for (const [at, path] of paths.entries()) groups[at % groups.length].push(path);
  return groups;
}

function group(paths) {
  const loads = paths.map((path) => {
    const from = relative(FOLDER, path).replace(/\.ts$/, '.js');
    return `await spec('${path}', () => import('${from}'));\n`;
  });
  return `import { spec } from '../../tools/test/group.mjs';\n${loads.join('')}`;
}

/** The report of Jest by specs again: each test of a group to its spec, under the name that it has there. */
export function bySpec(report) {
  const results = report.testResults.flatMap((result) => {
    const own = relative('.', result.name);
    if (!own.startsWith(`${FOLDER}/`) || result.assertionResults.length === 0) return [result];
    const specs = new Map();
    for (const test of result.assertionResults) {
      const [path, ...ancestorTitles] = test.ancestorTitles;
      const fullName = test.fullName.slice(path.length).trimStart();
      if (!specs.has(path)) specs.set(path, []);
      specs.get(path).push({ ...test, ancestorTitles, fullName });
    }
    return [...specs].map(([name, assertionResults]) => ({
      ...result,
      name: join(process.cwd(), name),
      assertionResults,
    }));
  });
  return { ...report, testResults: results };
}
