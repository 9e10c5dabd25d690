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
  let { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  const lines = new Set<Socket>();
  let stranded = new Set<Socket>();
  let accepted = 0;
  let upgrades = 0;
  let lastPath = '';
  let packedStreams = 0;
  let isStalled = false;
  let isPortal = false;
  let isBlocking = false;
  let isSwallowing = false;
  let swallowed: (() => void)[] = [];
  let limit = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    accepted += 1;
    sockets.add(client);
    client.once('close', () => {
      sockets.delete(client);
      lines.delete(client);
      upstream.destroy();
    });
    client.on('error', () => {});
    const upstream = connect(Number(targetPort), hostname);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    let passed = 0;
    upstream.on('data', (chunk) => {
      if (isStalled || stranded.has(client)) return;
      passed += chunk.length;
      if (passed > limit) client.resetAndDestroy();
      else client.write(chunk);
    });
    client.on('data', (chunk) => {
      if (isStalled || stranded.has(client)) return;
      if (isPortal) {
        client.end(PORTAL);
        return;
      }
      const head = chunk.toString('latin1');
      const path = /^(?:GET|POST) (\S+) HTTP/.exec(head)?.[1];
      if (path !== undefined) lastPath = path;
      const asksPacked = /^accept-encoding: .*\bgzip\b/im.test(head);
      if (asksPacked && /^accept: text\/event-stream/im.test(head)) packedStreams += 1;
      if (/^upgrade: websocket/im.test(head)) {
        upgrades += 1;
        lines.add(client);
        if (isBlocking) {
          client.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
          return;
        }
        if (isSwallowing) {
          swallowed.push(() => upstream.write(chunk));
          return;
        }
      }
      upstream.write(chunk);
    });
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
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
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Connections taken so far, and those that are open. */
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    /** Requests for a WebSocket so far, and connections with one that are open. */
    get upgrades() {
      return upgrades;
    },
    get openLines() {
      return lines.size;
    },
    /** Requests for an event stream that is packed. */
    get packedStreams() {
      return packedStreams;
    },
    /** The path of the last request that began a connection or was sent on one. */
    get lastPath() {
      return lastPath;
    },
    /** Resets all connections. */
    cut,
    /** Passes nothing on any more, in either direction. */
    stall() {
      isStalled = true;
    },
    /** Passes nothing on over the connections of now, as when the phone's address changes; new ones work. */
    strand() {
      stranded = new Set(sockets);
    },
    /** Answers everything with a page, as a captive portal does. */
    showPortal() {
      isPortal = true;
      cut();
    },
    /** Answers each request for a WebSocket with 403, as some company proxies do. */
    blockUpgrades() {
      isBlocking = true;
    },
    /** Passes no request for a WebSocket on, and says nothing, as some other proxies do. */
    swallowUpgrades() {
      isSwallowing = true;
    },
    /** Passes on the requests for a WebSocket that were swallowed, and takes no more. */
    releaseUpgrades() {
      isSwallowing = false;
      for (const release of swallowed.splice(0)) release();
    },
    /** Resets each connection when so many bytes of answers have passed. */
    cutAfterBytes(bytes: number) {
      limit = bytes;
    },
    /** Connections are refused. */
    refuse,
    /** No fault is left; connections that were stalled or stranded are reset. */
    async heal() {
      if (isStalled || stranded.size > 0) cut();
      stranded.clear();
      isStalled = false;
      isPortal = false;
      isBlocking = false;
      isSwallowing = false;
      swallowed = [];
      limit = Number.POSITIVE_INFINITY;
      if (!server.listening) await listen(port);
    },
    /** Leads new connections to another server. */
    lead(url: string) {
      ({ hostname, port: targetPort } = new URL(url));
    },
    close: refuse,
  };
}
