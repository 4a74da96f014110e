import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { BoardFeed } from '../../lib/watch/board/board-feed.js';
import { event, Viewer } from '../../lib/watch/board/viewer.js';
import { until } from '../support/until.js';
import { LookingPage } from './looking-page.js';

describe('the scans of a board', () => {
  let scans: number;
  let feed: BoardFeed;
  /** In ms: how long a scan takes. */
  let takes: number;

  beforeEach(() => {
    jest.useFakeTimers();
    scans = takes = 0;
    feed = new BoardFeed(async () => {
      scans += 1;
      await new Promise((resolve) => setTimeout(resolve, takes));
      return `list ${scans}`;
    }, 1_000);
  });

  afterEach(() => {
    feed.close();
    jest.useRealTimers();
  });

  it('are one at an interval for all who look', async () => {
    const pages = Array.from({ length: 20 }, () => new LookingPage().on(feed));
    await jest.advanceTimersByTimeAsync(3_500);
    expect(scans).toBe(4);
    for (const { lists } of pages) expect(lists).toEqual(['list 1', 'list 2', 'list 3', 'list 4']);
  });

  it('are made in no request, also not in that of who looks first', async () => {
    const requests = new AsyncLocalStorage<string>();
    const madeIn: unknown[] = [];
    const look = async (): Promise<string> => `list ${madeIn.push(requests.getStore())}`;
    const other = new BoardFeed(look, 1_000);
    requests.run('a request', () => new LookingPage().on(other));
    await jest.advanceTimersByTimeAsync(1_500);
    expect(madeIn).toEqual([undefined, undefined]);
    other.close();
  });

  it('are none while nobody looks, and begin at once when somebody does', async () => {
    await jest.advanceTimersByTimeAsync(60_000);
    expect(scans).toBe(0);
    const page = new LookingPage().on(feed);
    await jest.advanceTimersByTimeAsync(10);
    expect(page.lists).toEqual(['list 1']);
    page.leave();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([scans, jest.getTimerCount()]).toEqual([1, 0]);
    const next = new LookingPage().on(feed);
    await jest.advanceTimersByTimeAsync(10);
    expect(next.lists).toEqual(['list 2']); // nothing of long ago
  });

  it('are no more for pages that come and go', async () => {
    for (let ms = 0; ms < 5_000; ms += 10) {
      new LookingPage().on(feed).leave();
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(scans).toBeLessThanOrEqual(6);
  });

  it('are shown to who comes between two of them', async () => {
    new LookingPage().on(feed);
    await jest.advanceTimersByTimeAsync(500);
    expect(new LookingPage().on(feed).lists).toEqual(['list 1']);
  });

  it('leave Redis alone for as long as one took, and say meanwhile that they go on', async () => {
    takes = 8_000;
    const page = new LookingPage().on(feed);
    await jest.advanceTimersByTimeAsync(7_999);
    expect(page.shown).toEqual([event('beat', {})]);
    await jest.advanceTimersByTimeAsync(8_000);
    expect(scans).toBe(1);
    await jest.advanceTimersByTimeAsync(2);
    expect(scans).toBe(2);
  });

  it('end with the application, the one under way too', async () => {
    takes = 100;
    const page = new LookingPage().on(feed);
    feed.close();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([page.ended, page.lists, scans, feed.hasRoom]).toEqual([true, [], 1, false]);
  });

  it('have room for a hundred pages', () => {
    const pages = Array.from({ length: 100 }, () => new LookingPage().on(feed));
    expect(feed.hasRoom).toBe(false);
    pages[0]!.leave();
    expect(feed.hasRoom).toBe(true);
  });
});

describe('a page that looks', () => {
  let server: Server;
  let response: ServerResponse;
  let client: Socket;
  let viewer: Viewer;
  const large = (name: string): string => event(name, 'x'.repeat(1_000_000));

  beforeEach(async () => {
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    viewer = new Viewer(response, event('settings', {}));
  });

  afterEach(() => {
    client.destroy();
    server.close();
  });

  async function stuck(): Promise<void> {
    await until('nothing goes out any more', () => {
      viewer.show(large('first'));
      return response.writableNeedDrain;
    });
  }

  it('keeps no more than two events in memory when it takes nothing, and the latest of them', async () => {
    await stuck();
    for (let nth = 0; nth < 100; nth += 1) viewer.show(large(`list${nth}`));
    expect(response.writableLength).toBeLessThan(3_000_000);
    let text = '';
    client.setEncoding('latin1').on('data', (more) => (text += more));
    await until('it has caught up', () => text.includes('event: list99'));
    expect(text).not.toContain('event: list98');
    viewer.show(event('next', {}));
    await until('it goes on', () => text.includes('event: next'));
  });

  it('ends at once, also when it takes nothing', async () => {
    await stuck();
    const closed = once(server.close(), 'close');
    viewer.end();
    await closed;
  });

  it('is told to ask again, so that guards decide anew, however long its tab stays open', async () => {
    const second = connect((server.address() as AddressInfo).port, '127.0.0.1');
    second.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, answer] = (await once(server, 'request')) as [unknown, ServerResponse];
    void new Viewer(answer, event('settings', {}), 10);
    let heard = '';
    second.setEncoding('utf8').on('data', (more) => (heard += more));
    await once(second, 'close');
    expect(heard).toContain(event('again', {}));
  });

  it('leaves its connection to no further request', async () => {
    const closed = once(server.close(), 'close');
    viewer.end(event('again', {}));
    client.resume();
    await closed;
  });
});
