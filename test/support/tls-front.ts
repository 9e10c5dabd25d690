import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly key: string;
  readonly certificate: string;
}

/** Ends TLS in front of a port, and tells of each connection whether it resumed a session. */
export async function startTlsFront(files: TlsFiles, to: number) {
  const sockets = new Set<TLSSocket>();
  const resumed: boolean[] = [];
  const server = createServer(readTls(files), (socket) => {
    resumed.push(socket.isSessionReused());
    sockets.add(socket);
    const inner = connect(to, '127.0.0.1');
    for (const side of [socket, inner]) side.on('error', () => {});
    socket.on('close', () => inner.destroy());
    socket.pipe(inner).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    resumed,
    disconnect,
    /** New connections are shown this certificate. */
    present: (other: TlsFiles) => server.setSecureContext(readTls(other)),
    async [Symbol.asyncDispose]() {
      disconnect();
      server.close();
      await once(server, 'close');
    },
  };
}

function readTls({ key, certificate }: TlsFiles) {
  return { key: readFileSync(key), cert: readFileSync(certificate) };
}
