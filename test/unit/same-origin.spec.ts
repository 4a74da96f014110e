import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../../lib/watch/board/answers.js';
import { refuseOtherOrigins } from '../../lib/watch/board/same-origin.js';

describe('the check of the page', () => {
  it.each<[who: string, headers: IncomingHttpHeaders]>([
    ['an opaque origin where the request names no host', { origin: 'null' }],
    ['another origin over HTTP/2', { origin: 'https://evil', ':authority': 'admin' }],
    [
      'another origin over HTTP/2 that names the page as its host',
      { origin: 'https://evil', ':authority': 'admin', host: 'evil' },
    ],
    [
      'a page of another site, whatever origin it names',
      { 'sec-fetch-site': 'cross-site', origin: 'https://admin', host: 'admin' },
    ],
  ])('refuses %s', (_who, headers) => {
    expect(() => refuseOtherOrigins(headers)).toThrow(Refusal);
  });

  it.each<[who: string, headers: IncomingHttpHeaders]>([
    ['the page over HTTP/2, which has no header Host', { origin: 'https://a', ':authority': 'a' }],
    ['a person who opens the address', { 'sec-fetch-site': 'none', host: 'a' }],
    ['a program that is no browser', { host: 'a' }],
  ])('lets %s in', (_who, headers) => {
    expect(() => refuseOtherOrigins(headers)).not.toThrow();
  });
});
