import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { listenLocally } from './local-server.ts';

/** One request, read to the last byte of its body. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The number of the request's connection, counted from 1. */
  readonly connection: number;
}

/** Writes any bytes onto the socket, or none. */
export type Script = (socket: Socket, request: ScriptedRequest) => void;

export interface ScriptedGatewayOptions {
  /** Called with each connection before anything is read from it. */
  readonly onConnection?: (socket: Socket, connection: number) => void;
  /** Called with the headers of each request as soon as they are complete, before its body. */
  readonly onHead?: (socket: Socket, head: string) => void;
  /** 0 means any free port. */
  readonly port?: number;
}

/** A server that writes raw bytes, for answers that no HTTP server would send. */
export async function startScriptedGateway(
  script: Script,
  { onConnection, onHead, port = 0 }: ScriptedGatewayOptions = {},
) {
  /** The requests, in the order in which they were complete. */
  const requests: ScriptedRequest[] = [];
  const sockets = new Map<Socket, number>();
  let connections = 0;
  // Node parses the requests, but does not answer them.
  const server = createServer(async (request) => {
    const { socket, method = '', url: path = '', rawHeaders } = request;
    onHead?.(socket, rawHeaders.join('\r\n'));
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const headers = request.headers as Record<string, string>;
    const whole = { method, path, headers, body, connection: sockets.get(socket) ?? 0 };
    requests.push(whole);
    script(socket, whole);
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.set(socket, connections);
    // Many of the scripts end in a reset.
    socket.on('error', () => {});
    onConnection?.(socket, connections);
  });
  // Invalid HTTP gets no answer.
  server.on('clientError', () => {});
  return {
    ...(await listenLocally(server, undefined, port)),
    requests,
    /** The number of connections so far. */
    get connections() {
      return connections;
    },
    get openConnections() {
      // A socket that was reset while it ended may never emit `close`, so this looks at each socket.
      return [...sockets.keys()].filter(({ destroyed }) => !destroyed).length;
    },
    /** Resets every open connection. */
    reset() {
      for (const socket of sockets.keys()) socket.resetAndDestroy();
    },
  };
}

/** A whole answer; a body that is not a text is sent as JSON. */
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
