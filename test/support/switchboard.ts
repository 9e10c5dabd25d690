import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listenLocally } from './local-server.ts';

/** One address in front of servers that start and stop, like a load balancer or a moving address. */
export async function startSwitchboard(...urls: readonly string[]) {
  let targets = urls;
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer(async (client) => {
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    client.on('error', () => {});
    turn += 1;
    const start = turn % targets.length;
    const inTurn = [...targets.slice(start), ...targets.slice(0, start)];
    const upstream = await firstThatConnects(inTurn);
    if (upstream === null || client.destroyed) {
      upstream?.destroy();
      client.destroy();
      return;
    }
    pass(client, upstream);
    pass(upstream, client);
  });

  function pass(from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on('error', () => {});
    let previousChunk = Promise.resolve();
    from.on('data', (chunk) => {
      const dueAtMs = performance.now() + board.delayMs;
      // A chunk waits for the one before it, whose delay may be longer.
      previousChunk = previousChunk.then(async () => {
        const leftMs = dueAtMs - performance.now();
        if (leftMs > 0) await delay(leftMs);
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.once('close', () => to.destroy());
  }

  const { port, [Symbol.asyncDispose]: close } = await listenLocally(server);
  const board = {
    /** Host and port. */
    address: `127.0.0.1:${port}`,
    /** The servers for new connections, in turn; a refused connection tries the next one. */
    to(...next: readonly string[]) {
      targets = next;
    },
    /** The delay of each chunk of bytes, in both directions. */
    delayMs: 0,
    /** Resets all connections. */
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.asyncDispose]: close,
  };
  return board;
}

async function firstThatConnects(urls: readonly string[]): Promise<Socket | null> {
  for (const url of urls) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      socket.destroy();
    }
  }
  return null;
}
