import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CutProxy = Awaited<ReturnType<typeof startCutProxy>>;

/** A proxy between a client and the facade that acts like a network. */
export async function startCutProxy(target: string) {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  const webSockets = new Set<Socket>();
  let isSilent = false;
  /** Connections on which nothing is forwarded any more. */
  const silenced = new Set<Socket>();
  const server = createServer((client) => {
    proxy.accepted += 1;
    sockets.add(client);
    client.once('close', () => {
      sockets.delete(client);
      webSockets.delete(client);
      silenced.delete(client);
      upstream.destroy();
    });
    // When one connection of the pair fails, Node keeps the other connection open.
    client.on('error', () => upstream.destroy());
    const upstream = connect(Number(targetPort), hostname);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    if (isSilent) silenced.add(client);
    upstream.on('data', (chunk) => {
      if (!silenced.has(client)) client.write(chunk);
    });
    client.on('data', (chunk) => {
      if (silenced.has(client)) return;
      if (/^upgrade: websocket/im.test(chunk.toString('latin1'))) {
        proxy.upgrades += 1;
        webSockets.add(client);
      }
      upstream.write(chunk);
    });
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const refuse = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  const port = await listen(0);
  const proxy = {
    url: `http://127.0.0.1:${port}`,
    /** The number of connections so far, and of requests for a WebSocket. */
    accepted: 0,
    upgrades: 0,
    /** The number of open connections, and of those with a WebSocket. */
    get open() {
      return sockets.size;
    },
    get openWebSockets() {
      return webSockets.size;
    },
    /** Resets all connections. */
    cut,
    /** Takes connections, and forwards nothing any more: neither on these, nor on the open ones. */
    silence() {
      isSilent = true;
      for (const socket of sockets) silenced.add(socket);
    },
    /** Refuses connections. */
    refuse,
    /** Ends all faults. */
    async heal() {
      isSilent = false;
      if (!server.listening) await listen(port);
    },
    close: refuse,
  };
  return proxy;
}
