import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../../src/lib/clock.ts';
import { listenLocally } from '../../../test/support/local-server.ts';

/** The points at which a connection is reset while an order is on it. */
export const CUTS = [
  /** The order is not forwarded. */
  'lost',
  'under way',
  /** The service notices the reset too. */
  'under way, on both sides',
  /** The order is carried out. */
  'answer-lost',
  'after the head of the answer',
  'within the answer',
  'after the answer',
] as const;

export type LineFault =
  | 'none'
  | (typeof CUTS)[number]
  /** The request and all later ones are held until `heal`; new WebSockets pass. */
  | 'dead';

/** A mobile network, as seen by one phone. Faults affect only orders and questions about them. */
export async function startOrderLine(target: () => string) {
  /** Resolved while requests are not held. */
  let healed = Promise.withResolvers<void>();
  healed.resolve();

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reset = () => void request.socket.resetAndDestroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (body.includes('"{__typename}"')) line.pings += 1;
    const isPlacing = /order: place(?!d)/.test(body);
    if (isPlacing) line.orders += 1;
    const fault = (/order: (?:place|void)/.test(body) && line.next.shift()) || 'none';
    if (fault === 'dead') healed = Promise.withResolvers();
    await healed.promise;
    if (fault === 'lost') return reset();
    const leaving = new AbortController();
    const asking = fetch(`${target()}${request.url}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: request.headers.authorization ?? '',
      },
      body,
      signal: leaving.signal,
    });
    if (fault === 'under way') reset();
    // The head is sent in the next turns, and the service may have begun.
    if (fault === 'under way, on both sides') setImmediate(() => leaving.abort());
    const answer = await asking;
    const text = await answer.text();
    if (isPlacing) line.answered += 1;
    if (fault === 'answer-lost') return reset();
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-request-id': answer.headers.get('x-request-id') ?? '',
      date: new Date(systemClock.date() + line.aheadMs).toUTCString(),
    });
    if (fault === 'after the head of the answer') {
      response.flushHeaders();
      setImmediate(reset);
    } else if (fault === 'within the answer') {
      response.write(text.slice(0, text.length / 2), reset);
    } else response.end(text, fault === 'after the answer' ? reset : undefined);
  }

  const server = createServer((request, response) => {
    // The service was killed, or the request was aborted on both sides.
    pass(request, response).catch(() => request.socket.resetAndDestroy());
  });
  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    line.sockets += 1;
    client.on('error', () => {});
    const { hostname, port } = new URL(target());
    const headers = request.rawHeaders.map((text, at) => text + (at % 2 === 0 ? ': ' : '\r\n'));
    const upstream = connect(Number(port), hostname, () => {
      upstream.write(`GET ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`);
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => {});
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  });
  const listener = await listenLocally(server);
  const line = {
    url: listener.url,
    /** The faults of the next requests, in turn; later ones have none. */
    next: [] as LineFault[],
    /** The number of order mutations so far, and of those that the service has answered. */
    orders: 0,
    answered: 0,
    /** The number of WebSockets so far, and of requests with only a ping. */
    sockets: 0,
    pings: 0,
    /** By how much the answers' dates are ahead of the clock. */
    aheadMs: 0,
    /** Forwards the held requests, like a network after an interruption. */
    heal: () => healed.resolve(),
    async [Symbol.asyncDispose]() {
      line.heal();
      await listener[Symbol.asyncDispose]();
    },
  };
  return line;
}
