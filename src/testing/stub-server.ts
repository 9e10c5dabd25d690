import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Stub } from './test-graph.ts';

/** A backend of a test over real HTTP: its function answers each request. `onError` is told what the function throws. */
export async function startStubServer(stub: Stub, onError: (error: unknown) => void) {
  const server = createServer((incoming, outgoing) => {
    answer(stub, incoming, outgoing).catch((error: unknown) => {
      onError(error);
      incoming.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(stub: Stub, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { method = 'GET', url = '/', headersDistinct } = incoming;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body = await buffer(incoming);
  const request = new Request(new URL(url, `http://${incoming.headers.host}`), {
    method,
    headers,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const response = await stub(request);
  if (response.type === 'error') {
    incoming.socket.destroy();
    return;
  }
  const sent = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(sent);
}
