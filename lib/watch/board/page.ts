import { createHash } from 'node:crypto';
import parts from './page/board.html.js';

const [, style, , script] = parts;

/** The page: one static file. */
export const PAGE = parts.join('');

/** The page's policy: only its own script and style, requests only to its own origin, and no text is ever parsed as HTML. */
export const PAGE_HEADERS = {
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
