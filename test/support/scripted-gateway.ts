import { createServer, type Socket } from 'node:net';
import { listenLocally } from './local-server.ts';

/** One request, read to the last byte of its body. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection it came over, counted from 1. */
  readonly connection: number;
}

/** Writes whatever it likes onto the socket, or nothing. */
export type Script = (socket: Socket, request: ScriptedRequest) => void;

export interface ScriptedGatewayOptions {
  /** Called with each connection before anything is read from it. */
  readonly onConnection?: (socket: Socket, connection: number) => void;
  /** Called with each head as soon as it is whole, before its body. */
  readonly onHead?: (socket: Socket, head: string) => void;
  /** 0: any free one. */
  readonly port?: number;
}

export interface ScriptedGateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** In the order in which their last byte came. */
  readonly requests: readonly ScriptedRequest[];
  /** The number of connections that were ever made. */
  readonly connections: number;
  readonly openConnections: number;
  /** Resets every open connection. */
  reset(): void;
}

/** A server on bare sockets: for answers that no HTTP server can be made to give. */
export async function startScriptedGateway(
  script: Script,
  { onConnection, onHead, port = 0 }: ScriptedGatewayOptions = {},
): Promise<ScriptedGateway> {
  const requests: ScriptedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Many of the scripts end in a reset.
    socket.on('error', () => {});
    onConnection?.(socket, connection);
    readRequests(socket, connection, onHead, (request) => {
      requests.push(request);
      script(socket, request);
    });
  });
  return {
    ...(await listenLocally(server, undefined, port)),
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      // A socket that was reset while it ended may never emit `close`.
      return [...sockets].filter(({ destroyed }) => !destroyed).length;
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

/** A whole answer; a body that is no text goes out as JSON. */
export function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | number>> = {},
): Buffer {
  const bytes = toBytes(body);
  const all = { 'content-type': 'application/json', 'content-length': bytes.length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`, 'latin1'),
    bytes,
  ]);
}

function toBytes(body: unknown): Buffer {
  if (body instanceof Buffer) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function readRequests(
  socket: Socket,
  connection: number,
  onHead: ScriptedGatewayOptions['onHead'],
  onRequest: (request: ScriptedRequest) => void,
): void {
  let pending = Buffer.alloc(0);
  let isHeadReported = false;
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = pending.toString('latin1', 0, end);
      if (!isHeadReported) onHead?.(socket, head);
      isHeadReported = true;
      const parsed = parseHead(head);
      const length = end + 4 + Number(parsed.headers['content-length'] ?? 0);
      if (!(length > end)) throw new Error(`no length of a body: ${head}`);
      if (pending.length < length) return;
      const body = pending.toString('utf8', end + 4, length);
      pending = pending.subarray(length);
      isHeadReported = false;
      onRequest({ ...parsed, body, connection });
    }
  });
}

function parseHead(head: string): Pick<ScriptedRequest, 'method' | 'path' | 'headers'> {
  const [start = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = start.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { method, path, headers };
}
