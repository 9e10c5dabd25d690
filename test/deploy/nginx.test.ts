import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { describeWithNginx } from '../support/describe-with.ts';
import { freePort } from '../support/free-ports.ts';
import { startProgram } from '../support/started-program.ts';
import { readDeployed } from './support/files.ts';

/** What Debian's unit gives a process that asks for no more. */
const USUAL_FILES = 1_024;
const SOCKETS = 1_600;
const AT_ONCE = 50;

describeWithNginx('nginx as it is shipped', (path) => {
  test('carries more sockets than a worker usually has files, and still answers a probe', async () => {
    await using opened = new AsyncDisposableStack();
    const replica = await startSockets(opened);
    const url = await startNginx(path, opened, replica);
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
    // More than an address may begin without credentials.
    const asked = Array.from({ length: 3_000 }, () => fetch(`${url}/graphql`));
    const refused = (await Promise.all(asked)).filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(await refused[0]?.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    const bystander = { headers: { authorization: 'Bearer any' } };
    for (const answer of [fetch(`${url}/graphql`, bystander), fetch(`${url}/health/live`)]) {
      expect((await answer).status).toBe(200);
    }
    expect(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN)).toHaveLength(SOCKETS);
  });
});

/** The file but for its addresses, under one worker: on a machine with many cores each would have few of the sockets. */
async function startNginx(path: string, opened: AsyncDisposableStack, replica: string) {
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), 'trading-graph-nginx-')));
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(folder.path, 'nginx.conf');
  const shipped = readDeployed('nginx', 'nginx.conf');
  const placed = shipped
    .replace(/worker_processes \w+;/, 'worker_processes 1;')
    .replace('listen 8080;', `listen ${address};`)
    .replaceAll(/replica-\d+:4000/g, replica);
  expect(placed).not.toMatch(/auto|8080|4000/);
  await writeFile(file, placed);
  const globals = `daemon off; pid ${folder.path}/nginx.pid; error_log stderr;`;
  const command = [path, '-p', folder.path, '-e', 'stderr', '-c', file, '-g', globals];
  const url = `http://${address}`;
  const isReady = async () => (await fetch(url)).ok;
  const limited = `ulimit -Sn ${USUAL_FILES} && exec "$0" "$@"`;
  const nginx = opened.use(await startProgram('/bin/sh', ['-c', limited, ...command], isReady));
  // Its master alone can end the worker.
  opened.defer(async () => {
    nginx.signal('SIGTERM');
    await nginx.ended();
  });
  return url;
}

/** A stand-in for a replica, which takes each socket. */
async function startSockets(opened: AsyncDisposableStack): Promise<string> {
  const server = createServer(({ headers }, response) => void response.end(headers.host));
  const sockets = new WebSocketServer({ server });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.defer(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
