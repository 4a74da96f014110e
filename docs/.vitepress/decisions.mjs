import { readFileSync } from 'node:fs';

/** The sidebar of the decisions, by theme, as their index lists them. */
export function decisionSidebar(index) {
  const [, ...themes] = readFileSync(index, 'utf8').split(/^## /m);
  return themes.map((theme) => ({
    text: theme.slice(0, theme.indexOf('\n')),
    collapsed: true,
    items: [...theme.matchAll(/^- \[(.+)\]\((.+)\.md\)$/gm)].map(([, text, page]) => ({
      text,
      link: `/decisions/${page}`,
    })),
  }));
}

/** A plugin of markdown-it: the tests are not on the site, so a link to one is its text alone. */
export function testsAsText(md) {
  md.core.ruler.push('tests_as_text', ({ tokens }) => {
    for (const token of tokens) {
      let isTest = false;
      token.children &&= token.children.filter((child) => {
        if (child.type === 'link_open') isTest = /^(\.\.\/)+test\//.test(child.attrGet('href'));
        return !isTest || (child.type !== 'link_open' && child.type !== 'link_close');
      });
    }
  });
}
