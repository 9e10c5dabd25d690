import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headOf } from './request-head.ts';

/** The fault that a request meets between the client and the service. */
export type LineFault =
  | 'none'
  /** It goes no further, and its connection is reset. */
  | 'lost'
  /** It is carried out, and the connection is reset in place of the answer. */
  | 'answer-lost'
  /** The answer breaks off in the middle. */
  | 'cut'
  /** It is carried out, and nothing comes back. */
  | 'silent'
  /** A page of somebody else's comes back, as in a hotel. */
  | 'portal'
  /** Nothing of it passes, nor of any other request after it, until the line is healed; new WebSockets do. */
  | 'dead';

export interface FaultyLine extends AsyncDisposable {
  readonly url: string;
  /** The number of order mutations that came here. */
  readonly orders: number;
  /** How many of them the service has answered. */
  readonly answered: number;
  /** WebSockets that were opened so far, and requests in which nothing but a ping was. */
  readonly sockets: number;
  readonly pings: number;
  /** The answers' dates are so far ahead of the real one. */
  aheadMs: number;
  /** Passes on what waits, as a network does that was gone for a while. */
  heal(): void;
  /** The faults of the next requests, in turn; later ones have none. */
  readonly next: LineFault[];
}

/** A mobile network, as seen by one phone. Faults hit orders and questions about them alone. */
export async function startFaultyLine(target: () => string): Promise<FaultyLine> {
  const next: LineFault[] = [];
  let orders = 0;
  let answered = 0;
  let sockets = 0;
  let pings = 0;
  let isDead = false;
  const waiting: (() => void)[] = [];
  const upgraded = new Set<Duplex>();
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      if (body.includes('"{__typename}"')) pings += 1;
      const isOrder = /order: (?:place|void)/.test(body.toString());
      const isPlacing = /order: place(?!d)/.test(body.toString());
      if (isPlacing) orders += 1;
      const fault = isOrder ? (next.shift() ?? 'none') : 'none';
      isDead ||= fault === 'dead';
      if (isDead) await new Promise<void>((resolve) => waiting.push(resolve));
      if (fault === 'lost') return void request.socket.resetAndDestroy();
      if (fault === 'portal') return void response.end('<html>Welcome</html>');
      const answer = await fetch(`${target()}${request.url}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: request.headers.authorization ?? '',
        },
        body,
      });
      const text = await answer.text();
      if (isPlacing) answered += 1;
      if (fault === 'answer-lost') return void request.socket.resetAndDestroy();
      if (fault === 'silent') return;
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'x-request-id': answer.headers.get('x-request-id') ?? '',
        date: new Date(Date.now() + line.aheadMs).toUTCString(),
      });
      if (fault === 'cut') {
        response.write(text.slice(0, text.length / 2), () => request.socket.resetAndDestroy());
      } else response.end(text);
    } catch {
      // The service was killed.
      request.socket.resetAndDestroy();
    }
  });
  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    sockets += 1;
    const { hostname, port } = new URL(target());
    const upstream = connect(Number(port), hostname, () => {
      upstream.write(headOf(request));
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      upgraded.add(one);
      one.on('error', () => {});
      one.once('close', () => {
        upgraded.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: FaultyLine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get orders() {
      return orders;
    },
    get answered() {
      return answered;
    },
    get sockets() {
      return sockets;
    },
    get pings() {
      return pings;
    },
    aheadMs: 0,
    heal() {
      isDead = false;
      for (const pass of waiting.splice(0)) pass();
    },
    next,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      line.heal();
      for (const socket of upgraded) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
  return line;
}
