import type { ServerResponse } from 'node:http';
import type { Reply } from './http.ts';

/** Sends an answer, unless the client has disconnected. */
export function respond(response: ServerResponse, reply: Reply): void {
  if (response.destroyed) return;
  if (reply.lost) {
    reset(response);
    return;
  }
  if (reply.status === 304 || reply.status === 204) {
    response.writeHead(reply.status, reply.headers).end();
    return;
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
  const length = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { ...headers, 'content-length': length }).end(reply.body);
}

/** Resets the connection (RST, not FIN), as a crashed process or a firewall does. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
