import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface LocalServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** Listens on this machine, by default on a free port, until it is closed with all its connections. */
export async function listenLocally(
  server: Server,
  host = '127.0.0.1',
  requestedPort = 0,
): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(requestedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
