import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { TEST_CERTIFICATE } from './certificate.ts';
import { listenLocally } from './local-server.ts';

/** Ends TLS in front of a port, and records for each connection whether it resumed a session. */
export async function startTlsFront(to: number) {
  const sockets = new Set<TLSSocket>();
  const resumed: boolean[] = [];
  const pem = readFileSync(TEST_CERTIFICATE);
  const server = createServer({ key: pem, cert: pem }, (socket) => {
    resumed.push(socket.isSessionReused());
    sockets.add(socket);
    const inner = connect(to, '127.0.0.1');
    for (const side of [socket, inner]) side.on('error', () => {});
    socket.on('close', () => inner.destroy());
    socket.pipe(inner).pipe(socket);
  });
  const { port, [Symbol.asyncDispose]: close } = await listenLocally(server);
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return { port, resumed, disconnect, [Symbol.asyncDispose]: close };
}
