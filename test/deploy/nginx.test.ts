import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { describeWithNginx } from '../support/describe-with.ts';
import { listenLocally } from '../support/local-server.ts';
import { startNginx } from './support/start-nginx.ts';

const SOCKETS = 1_600;
const AT_ONCE = 50;

describeWithNginx('nginx as it is shipped', (path) => {
  test('carries more sockets than a worker usually has files, and still answers a probe', async () => {
    await using opened = new AsyncDisposableStack();
    const replica = await startSockets(opened);
    const { url } = await startNginx(path, opened, replica);
    const sockets: WebSocket[] = [];
    opened.defer(() => {
      for (const socket of sockets) socket.terminate();
    });
    while (sockets.length < SOCKETS) {
      const some = Array.from({ length: AT_ONCE }, () => new WebSocket(url.replace('http', 'ws')));
      sockets.push(...some);
      await Promise.all(some.map((socket) => once(socket, 'open')));
    }
    const { status } = await fetch(`${url}/health/ready`);
    expect(status).toBe(200);
    // Replicas compare it with the Origin of a page, which has the port.
    const { host } = new URL(url);
    expect(await (await fetch(url)).text()).toBe(host);
    expect(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN)).toHaveLength(SOCKETS);
  });
});

/** A stand-in for a replica, which takes each socket. */
async function startSockets(opened: AsyncDisposableStack): Promise<string> {
  const server = createServer(({ headers }, response) => void response.end(headers.host));
  new WebSocketServer({ server });
  return `127.0.0.1:${opened.use(await listenLocally(server)).port}`;
}
