import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';

/** A WebSocket of an account whose `connection_init` is acknowledged, and the connection beneath it. */
export async function openSocket(port: number, token: string, options: ClientOptions = {}) {
  const url = `ws://127.0.0.1:${port}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', options);
  const connected = once(socket, 'upgrade').then(([request]) => request.socket as Socket);
  // Where it fails, the wait for `open` says so.
  connected.catch(() => {});
  await once(socket, 'open');
  const acknowledged = once(socket, 'message');
  const payload = { authorization: `Bearer ${token}` };
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  await acknowledged;
  return { socket, stream: await connected };
}
