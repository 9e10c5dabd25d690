import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const PORTAL = [
  'HTTP/1.1 200 OK',
  'content-type: text/html',
  'connection: close',
  '',
  '<h1>Sign in to this network</h1>',
].join('\r\n');

export type CutProxy = Awaited<ReturnType<typeof startCutProxy>>;

/** Stands between a client and the facade as a network does. */
export async function startCutProxy(target: string) {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  const lines = new Set<Socket>();
  let stranded = new Set<Socket>();
  /** The fault that all connections meet; `swallowed` are requests for a WebSocket alone. */
  let fault: 'none' | 'stalled' | 'portal' | 'swallowed' = 'none';
  let swallowed: (() => void)[] = [];
  const server = createServer((client) => {
    proxy.accepted += 1;
    sockets.add(client);
    client.once('close', () => {
      sockets.delete(client);
      lines.delete(client);
      upstream.destroy();
    });
    // Node resets none whose other side has left, and never closes it.
    client.on('error', () => upstream.destroy());
    const upstream = connect(Number(targetPort), hostname);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    const isDead = () => fault === 'stalled' || stranded.has(client);
    upstream.on('data', (chunk) => {
      if (!isDead()) client.write(chunk);
    });
    client.on('data', (chunk) => {
      if (isDead()) return;
      if (fault === 'portal') return void client.end(PORTAL);
      const head = chunk.toString('latin1');
      proxy.lastPath = /^(?:GET|POST) (\S+) HTTP/.exec(head)?.[1] ?? proxy.lastPath;
      const asksPacked = /^accept-encoding: .*\bgzip\b/im.test(head);
      if (asksPacked && /^accept: text\/event-stream/im.test(head)) proxy.packedStreams += 1;
      if (/^upgrade: websocket/im.test(head)) {
        proxy.upgrades += 1;
        lines.add(client);
        if (fault === 'swallowed') return void swallowed.push(() => upstream.write(chunk));
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
    /** Connections taken so far, requests for a WebSocket, and for an event stream that is packed. */
    accepted: 0,
    upgrades: 0,
    packedStreams: 0,
    /** The path of the last request that began a connection or was sent on one. */
    lastPath: '',
    /** Connections that are open, and those with a WebSocket. */
    get open() {
      return sockets.size;
    },
    get openLines() {
      return lines.size;
    },
    /** Resets all connections. */
    cut,
    /** Passes nothing on any more, in either direction. */
    stall() {
      fault = 'stalled';
    },
    /** Passes nothing on over the connections of now, as when the phone's address changes; new ones work. */
    strand() {
      stranded = new Set(sockets);
    },
    /** Answers everything with a page, as a captive portal does. */
    showPortal() {
      fault = 'portal';
      cut();
    },
    /** Passes no request for a WebSocket on, and says nothing, as some other proxies do. */
    swallowUpgrades() {
      fault = 'swallowed';
    },
    /** Passes on the requests for a WebSocket that were swallowed, and takes no more. */
    releaseUpgrades() {
      fault = 'none';
      for (const release of swallowed.splice(0)) release();
    },
    /** Connections are refused. */
    refuse,
    /** No fault is left; connections that were stalled or stranded are reset. */
    async heal() {
      if (fault === 'stalled' || stranded.size > 0) cut();
      stranded.clear();
      fault = 'none';
      swallowed = [];
      if (!server.listening) await listen(port);
    },
    close: refuse,
  };
  return proxy;
}
