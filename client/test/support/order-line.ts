import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../../src/lib/clock.ts';
import { listenLocally } from '../../../test/support/local-server.ts';

/** When the connection of an order is reset. */
export const CUTS = [
  /** Before the order is forwarded. */
  'lost',
  /** After the order was forwarded. */
  'under way',
  /** The connection to the service is aborted too. */
  'under way, on both sides',
  /** After the order was carried out. */
  'answer-lost',
  'after the head of the answer',
  'within the answer',
  'after the answer',
] as const;

export type LineFault =
  | 'none'
  | (typeof CUTS)[number]
  /** This request and all later ones are held until `heal`. New WebSockets work. */
  | 'dead';

/** The mobile network of one phone, before the service. Its faults affect only requests about orders. */
export async function startOrderLine(target: () => string) {
  /** All requests wait for this promise, which is pending only while the connection is dead. */
  let healed = Promise.withResolvers<void>();
  healed.resolve();

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reset = () => void request.socket.resetAndDestroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (body.includes('"{__typename}"')) line.pings += 1;
    // The field `placedOrder` only asks for an outcome.
    const isPlacing = /order: place(?!d)/.test(body);
    if (isPlacing) line.orders += 1;
    const mayFail = /order: (?:place|void)/.test(body);
    const fault = (mayFail ? line.next.shift() : undefined) ?? 'none';
    if (fault === 'dead') healed = Promise.withResolvers();
    await healed.promise;
    if (fault === 'lost') return reset();
    const leaving = new AbortController();
    const { authorization } = request.headers;
    const forwarding = fetch(`${target()}${request.url}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authorization !== undefined && { authorization }),
      },
      body,
      signal: leaving.signal,
    });
    if (fault === 'under way') reset();
    // When the request is aborted, the service has already received it in some tests, and not yet in others.
    if (fault === 'under way, on both sides') setImmediate(() => leaving.abort());
    const answer = await forwarding;
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
    // `pass` fails if the service was killed, or if a fault has aborted the request.
    pass(request, response).catch(() => request.socket.resetAndDestroy());
  });
  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    line.sockets += 1;
    client.on('error', () => {});
    const { hostname, port } = new URL(target());
    // Names and values alternate in `rawHeaders`.
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
    /** The faults of the next requests, one for each. Later requests have none. */
    next: [] as LineFault[],
    /** How many orders were requested so far, and how many the service has answered. */
    orders: 0,
    answered: 0,
    /** How many WebSockets and how many pings there were so far. */
    sockets: 0,
    pings: 0,
    /** How far the answers' dates are ahead of the clock. */
    aheadMs: 0,
    /** Ends a dead connection: forwards the held requests. */
    heal: () => healed.resolve(),
    async [Symbol.asyncDispose]() {
      line.heal();
      await listener[Symbol.asyncDispose]();
    },
  };
  return line;
}
