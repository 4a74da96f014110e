import { createHash } from 'node:crypto';
import { HEADERS } from './answers.js';
import parts from './page/board.html.js';

const [, style, , script] = parts;

/** The page: one file, without anything to fill in. */
export const PAGE = parts.join('');

/** No script and no style but those in it, no request but to where it comes from, and no text is ever read as HTML. */
export const PAGE_HEADERS = {
  ...HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
};

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
