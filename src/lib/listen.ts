import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { reasonOf } from './reason-of.ts';

/** The codes of addresses that no listener of this machine can have. */
const HOST_CODES = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);
/** The codes of failures that end by themselves. */
const TEMPORARY_CODES = new Set(['EADDRINUSE', 'EAI_AGAIN']);

/** A listener cannot be opened, because of its port or its host. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly about: 'port' | 'host';
  /** The same attempt may succeed later: another process has the port, or a name server did not answer. */
  readonly isTemporary: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(reasonOf(cause), { cause });
    const isOfHost = cause.syscall === 'getaddrinfo' || HOST_CODES.has(cause.code ?? '');
    this.about = isOfHost ? 'host' : 'port';
    this.isTemporary = TEMPORARY_CODES.has(cause.code ?? '');
  }
}

/** Resolves with the port. The system chooses one for port 0. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new ListenError(error);
  });
  return (server.address() as AddressInfo).port;
}
