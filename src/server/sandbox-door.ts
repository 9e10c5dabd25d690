import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { type AllowedOrigins, isAllowedOrigin } from './cors.ts';
import type { Reply } from './reply.ts';

/** Hands `/sandbox/…` on to the sandbox gateway's own controls: from this machine only. */
export class SandboxDoor {
  readonly #gatewayUrl: string;
  readonly #origins: AllowedOrigins;

  constructor(gatewayUrl: string, origins: AllowedOrigins) {
    this.#gatewayUrl = gatewayUrl;
    this.#origins = origins;
  }

  /**
   * A page of any site can send requests to this machine; it may not play with the controls, not
   * even from a name that it has had pointed here. Nor may whom a proxy on this machine lets in.
   */
  isOpenTo({ socket, headers }: IncomingMessage): boolean {
    const { origin, host, forwarded, 'x-forwarded-for': forwardedFor } = headers;
    return (
      isLoopback(socket.remoteAddress) &&
      forwarded === undefined &&
      forwardedFor === undefined &&
      isThisMachine(host) &&
      (origin === undefined || isAllowedOrigin(origin, this.#origins))
    );
  }

  forward(reply: Reply): Promise<void> {
    const { request } = reply;
    const response = reply.handOver();
    return new Promise((resolve, reject) => {
      const { host: _host, connection: _connection, ...headers } = request.headers;
      const onward = httpRequest(
        new URL(request.url ?? '/', this.#gatewayUrl),
        { method: request.method, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, {
            'content-type': answer.headers['content-type'] ?? 'application/json',
          });
          answer.pipe(response);
          answer.on('data', () => reply.unread.measureSoon());
          answer.once('end', resolve);
          answer.once('error', reject);
        },
      );
      onward.once('error', reject);
      request.pipe(onward);
    });
  }
}

function isThisMachine(host: string | undefined): boolean {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isLoopback(name);
}

function isLoopback(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/, '') ?? '';
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
