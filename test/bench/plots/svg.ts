type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element; numbers are rounded to tenths, and what is undefined is left out. */
export function element(name: string, attributes: Attributes, content = ''): string {
  const said = Object.entries(attributes).map(([key, value]) => {
    if (value === undefined) return '';
    const text = typeof value === 'number' ? String(Math.round(value * 10) / 10) : value;
    return ` ${key}="${escaped(text)}"`;
  });
  const begin = `<${name}${said.join('')}`;
  return content === '' ? `${begin}/>` : `${begin}>${content}</${name}>`;
}

export interface TextOptions {
  readonly anchor?: 'middle' | 'end';
  readonly fill?: string;
  readonly size?: number;
  readonly weight?: number;
}

export function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { anchor, fill = INK, size, weight } = options;
  return element(
    'text',
    { x, y, fill, 'text-anchor': anchor, 'font-size': size, 'font-weight': weight },
    escaped(content),
  );
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke: string): string {
  return element('line', { x1, y1, x2, y2, stroke });
}

/** A whole drawing, light or dark as the page around it. */
export function drawing(width: number, height: number, content: readonly string[]): string {
  const box = element('rect', { width, height, fill: PAPER, rx: 6 });
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  const family = 'system-ui, -apple-system, "Segoe UI", Helvetica, sans-serif';
  const font = { 'font-family': family, 'font-size': 12 };
  const body = `\n${[DARK, box, ...content].join('\n')}\n`;
  return `${element('svg', { xmlns: 'http://www.w3.org/2000/svg', ...size, ...font }, body)}\n`;
}

export const INK = '#1f2328';
export const FAINT = '#656d76';
export const GRID = '#e4e8ec';
const PAPER = '#ffffff';

/** What these colours, and the darkest of the bars, become on a dark page. */
const IN_THE_DARK = {
  [PAPER]: '#1b1b1f',
  [INK]: '#e6e8eb',
  [FAINT]: '#a2aab4',
  [GRID]: '#393e46',
  '#0550ae': '#54a0ff',
};

const rules = Object.entries(IN_THE_DARK).flatMap(([light, dark]) =>
  ['fill', 'stroke'].map((part) => `[${part}="${light}"] { ${part}: ${dark} }`),
);
const DARK = `<style>@media (prefers-color-scheme: dark) {\n${rules.join('\n')}\n}</style>`;

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
