import { makeSignedCertificates } from '../certificate.ts';
import { startTlsFront } from '../tls-front.ts';

export interface TlsGateway extends AsyncDisposable {
  readonly url: string;
  /** A PEM file of the authority that has signed its certificates. */
  readonly authority: string;
  /** Shows this certificate from now on, and ends the connections that were made with the other. */
  present(which: 'valid' | 'expired'): void;
}

/** The gateway at this port, by TLS. */
export async function startTlsGateway(port: number): Promise<TlsGateway> {
  await using started = new AsyncDisposableStack();
  const files = started.use(await makeSignedCertificates());
  const front = started.use(await startTlsFront(files.valid, port));
  const owned = started.move();
  return {
    url: `https://127.0.0.1:${front.port}`,
    authority: files.authority,
    present(which) {
      front.present(files[which]);
      front.disconnect();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
