import type { INestApplication } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { closing } from '../support/closing.js';

/** A client: sends a message, and hears the next event that comes. */
export interface Client {
  leave(): unknown;
  send(event: string, data: string): Promise<{ readonly event: string; readonly data: unknown }>;
}

export async function overSocketIo(url: string): Promise<Client & { readonly socket: Socket }> {
  const socket = io(url, { transports: ['websocket'], reconnection: false });
  closing.push(() => socket.close());
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('connect_error', reject);
  });
  return {
    socket,
    leave: () => socket.close(),
    send: (event, data) =>
      new Promise((resolve) => {
        socket.onAny((heard: string, body: unknown) => {
          socket.offAny();
          resolve({ event: heard, data: body });
        });
        socket.emit(event, data);
      }),
  };
}

export async function overWebSocket(url: string): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  closing.push(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    leave: () => socket.terminate(),
    send: (event, data) =>
      new Promise((resolve) => {
        socket.once('message', (text: Buffer) => resolve(JSON.parse(text.toString()) as never));
        socket.send(JSON.stringify({ event, data }));
      }),
  };
}

/** How Nest speaks to the clients of each. */
export const PLATFORMS = {
  'socket.io': {
    adapter: (app: INestApplication) => new IoAdapter(app),
    connect: overSocketIo as (url: string) => Promise<Client>,
  },
  ws: { adapter: (app: INestApplication) => new WsAdapter(app), connect: overWebSocket },
} as const;
export type Platform = keyof typeof PLATFORMS;
