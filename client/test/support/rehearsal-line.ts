import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ScriptedClock } from '../../../test/support/scripted-clock.ts';
import { headOf } from './request-head.ts';

/** The places at which a connection can be cut while an order is on it. */
export const CUTS = [
  'with the head of the request',
  'within the request',
  'after the request, which goes no further',
  'while it is under way',
  'while it is under way, on both sides',
  'before the answer',
  'after the head of the answer',
  'within the answer',
  'after the answer',
] as const;

export type Cut = (typeof CUTS)[number];

export type LineEvent =
  | { readonly kind: 'cut'; readonly at: Cut }
  /** A page of somebody else's comes back, as in a hotel. */
  | { readonly kind: 'portal' }
  /** Nothing of the device's passes for so long; then all of it does, this request included. */
  | { readonly kind: 'stall'; readonly ms: number }
  /** The same of the connections that are open, while new WebSockets pass. */
  | { readonly kind: 'stalled connection'; readonly ms: number };

/** The network of one device. Its next orders and voids meet these faults, in turn. */
export interface DeviceLine {
  readonly url: string;
  readonly next: LineEvent[];
  /** The device has another address from now on: what is on its connections is lost, and the next one works after so long. */
  changeAddress(ms: number): void;
}

export interface RehearsalLine extends AsyncDisposable {
  device(name: string): DeviceLine;
}

interface Device {
  readonly next: LineEvent[];
  /** Until then nothing passes: over HTTP, and over WebSockets. */
  httpUntilMs: number;
  socketsUntilMs: number;
  /** Until then requests are lost in connections of the address before. */
  lostUntilMs: number;
}

/** A mobile network before the service, whose time is the clients' scripted one. */
export async function startRehearsalLine(
  target: () => string,
  clock: ScriptedClock,
): Promise<RehearsalLine> {
  const devices = new Map<string, Device>();
  const sockets = new Set<Duplex>();
  let isClosed = false;
  const until = async (ms: () => number) => {
    while (!isClosed && clock.now() < ms()) {
      const leftMs = ms() - clock.now();
      await new Promise<void>((resolve) => clock.after(leftMs, resolve));
    }
  };
  const deviceOf = (url = '') => devices.get(String(url.split('/')[1])) as Device;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const device = deviceOf(request.url);
    const reset = () => void request.socket.resetAndDestroy();
    const isLost = clock.now() < device.lostUntilMs;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isOrder = /order: (?:place|void)/.test(body.toString());
    const event = isOrder ? device.next.shift() : undefined;
    if (event?.kind === 'stall' || event?.kind === 'stalled connection') {
      const untilMs = clock.now() + event.ms;
      device.httpUntilMs = untilMs;
      if (event.kind === 'stall') device.socketsUntilMs = untilMs;
    }
    await until(() => (isLost ? device.lostUntilMs : device.httpUntilMs));
    const at = event?.kind === 'cut' ? event.at : null;
    if (isLost || (at !== null && CUTS.indexOf(at) < 3)) return reset();
    if (event?.kind === 'portal') return void response.end('<html>Welcome</html>');
    const leaving = new AbortController();
    const asking = fetch(`${target()}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: request.headers.authorization ?? '',
      },
      body,
      signal: leaving.signal,
    });
    if (at === 'while it is under way') reset();
    if (at === 'while it is under way, on both sides') {
      // The head is on its way by the next turns, and the service has begun or not.
      setImmediate(() => leaving.abort());
    }
    const answer = await asking;
    const text = await answer.text();
    if (at === 'before the answer') return reset();
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-request-id': answer.headers.get('x-request-id') ?? '',
      date: new Date(clock.now()).toUTCString(),
    });
    if (at === 'after the head of the answer') {
      response.flushHeaders();
      setImmediate(reset);
    } else if (at === 'within the answer') {
      response.write(text.slice(0, text.length / 2), reset);
    } else response.end(text, at === 'after the answer' ? reset : undefined);
  }

  const server = createServer((request, response) => {
    // The service was killed, or the request was aborted on both sides.
    pass(request, response).catch(() => request.socket.resetAndDestroy());
  });
  server.on('upgrade', async (request: IncomingMessage, client: Socket, head: Buffer) => {
    const device = deviceOf(request.url);
    sockets.add(client);
    client.on('error', () => {});
    client.once('close', () => sockets.delete(client));
    await until(() => device.socketsUntilMs);
    const { hostname, port } = new URL(target());
    const upstream = connect(Number(port), hostname, () => {
      upstream.write(headOf(request, '/graphql'));
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => {});
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    device(name) {
      const device: Device = { next: [], httpUntilMs: 0, socketsUntilMs: 0, lostUntilMs: 0 };
      devices.set(name, device);
      return {
        url: `http://127.0.0.1:${port}/${name}`,
        next: device.next,
        changeAddress(ms) {
          device.lostUntilMs = clock.now() + ms;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
}
