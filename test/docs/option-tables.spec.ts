import { describe, expect, it } from '@jest/globals';
import { PAGES, textOf } from './pages.js';

const tool = '../../tools/option-tables.mjs';
const { withTables } = (await import(tool)) as { withTables: (page: string) => string };

describe('the tables of options', () => {
  const pages = PAGES.filter((page) => textOf(page).includes('<!-- options of '));

  it.each(pages)(
    'of %s are those of the doc comments: `npm run docs:tables` writes them',
    (page) => {
      expect(textOf(page)).toBe(withTables(textOf(page)));
    },
  );

  it('tell of an option what its comment begins with, and its tags', () => {
    const page = withTables('<!-- options of ModeOptions -->\n\n| stale |\n\nText\n');
    expect(page).toBe(
      "<!-- options of ModeOptions -->\n\n| option | default | meaning |\n|---|---|---|\n| `mode` | `'exclusive'` | `'exclusive'`: one caller holds the lock. `'shared'`: [readers](semaphores-and-readers.md#readers-and-writers) hold it together, and no writer beside them. |\n\nText\n",
    );
  });

  it('name an interface of the library', () => {
    expect(() => withTables('<!-- options of NoOptions -->\n\n')).toThrow('no interface NoOptions');
  });
});
