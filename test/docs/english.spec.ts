import { describe, expect, it } from '@jest/globals';
import { countWords, longSentences } from './english.js';
import { PAGES, textOf } from './pages.js';

describe('the README', () => {
  it('has at most 1,300 words, code and all', () => {
    expect(countWords(textOf('README.md'))).toBeLessThanOrEqual(1_300);
  });
});

describe('the pages together', () => {
  it('have at most 40,000 words, code and all', () => {
    expect(countWords(PAGES.map(textOf).join('\n'))).toBeLessThanOrEqual(40_000);
  });
});

describe.each([...PAGES, 'SECURITY.md'])('%s', (page) => {
  it('has no sentence of more than 30 words', () => {
    expect(longSentences(textOf(page), 30)).toEqual([]);
  });
});

describe('a sentence that is too long', () => {
  const words = (count: number): string => Array(count).fill('word').join(' ');

  it.each([
    ['in a paragraph', `# Title\n\nShort. ${words(31)}. Short.`],
    ['over two lines', `${words(16)}\n${words(15)}.`],
    ['in an item of a list', `- Short.\n- **${words(31)}**.\n- Short.`],
    ['in a cell of a table', `| a | b |\n|---|---|\n| short | ${words(31)} |`],
    ['that begins with code', `Short. \`code\` ${words(30)}.`],
    ['with a link', `${words(15)} [${words(16)}](page.md).`],
  ])('%s is found', (_, page) => {
    expect(longSentences(page, 30)).toHaveLength(1);
  });

  it('is not made of its neighbours, or of code', () => {
    const page = `${words(20)}. Word ${words(20)}.\n\n- ${words(20)}\n- ${words(20)}\n\n\`\`\`ts\n${words(40)}\n\`\`\`\n`;
    expect(longSentences(page, 30)).toEqual([]);
  });
});
