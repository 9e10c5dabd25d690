import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  | 'portal';

export interface FaultyLine extends AsyncDisposable {
  readonly url: string;
  /** The number of order mutations that came here. */
  readonly orders: number;
  /** How many of them the service has answered. */
  readonly answered: number;
  /** The faults of the next requests, in turn; later ones have none. */
  readonly next: LineFault[];
}

/** A mobile network, as seen by one phone. Faults hit orders and questions about them alone. */
export async function startFaultyLine(target: () => string): Promise<FaultyLine> {
  const next: LineFault[] = [];
  let orders = 0;
  let answered = 0;
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const isOrder = body.includes('order: place');
      const isPlacing = isOrder && body.includes('mutation');
      if (isPlacing) orders += 1;
      const fault = isOrder ? (next.shift() ?? 'none') : 'none';
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
      });
      if (fault === 'cut') {
        response.write(text.slice(0, text.length / 2), () => request.socket.resetAndDestroy());
      } else response.end(text);
    } catch {
      // The service was killed.
      request.socket.resetAndDestroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get orders() {
      return orders;
    },
    get answered() {
      return answered;
    },
    next,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
