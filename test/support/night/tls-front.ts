import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { makeCertificate } from '../certificate.ts';

export interface TlsFront extends AsyncDisposable {
  readonly url: string;
}

/** Ends TLS before a port of this machine, by a certificate that no authority has signed. */
export async function startTlsFront(port: () => number): Promise<TlsFront> {
  await using certificate = await makeCertificate();
  const [key, cert] = await Promise.all([
    readFile(certificate.key),
    readFile(certificate.certificate),
  ]);
  const open = new Set<TLSSocket>();
  const server = createServer({ key, cert }, (socket) => {
    open.add(socket);
    const inner = connect(port(), '127.0.0.1');
    socket.on('close', () => {
      open.delete(socket);
      inner.destroy();
    });
    socket.on('error', () => inner.destroy());
    inner.on('error', () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  // A client that refuses the certificate ends the handshake, which is what is rehearsed.
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
