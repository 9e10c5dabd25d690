import { type AddressInfo, createServer, type Server } from 'node:net';
import { reasonOf } from './reason-of.ts';

/** A listener cannot be opened, because of its port or its host. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly about: 'port' | 'host';

  constructor(about: 'port' | 'host', reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.about = about;
  }
}

/** Resolves with the port. The system chooses one for port 0. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(toListenError(error, host));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Throws a ListenError if a listener cannot be opened. It serves no request. */
export async function probeAddress(port: number, host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}

function toListenError(error: NodeJS.ErrnoException, host: string): ListenError {
  const options = { cause: error };
  if (error.syscall === 'getaddrinfo')
    return new ListenError('host', 'the name has no address', options);
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError('port', `it is in use on ${host}`, options);
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return new ListenError('host', 'this machine has no such address', options);
    default:
      return new ListenError('port', reasonOf(error), options);
  }
}
