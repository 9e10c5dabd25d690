import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { plainAddress } from '../../lib/address-key.ts';
import { type AllowedOrigins, isAllowedOrigin } from './cors.ts';
import type { Reply } from './reply.ts';

// The controls' own paths. A dot segment, however encoded, would lead to the gateway's operations.
const CONTROL_PATH = /^(?:\/[a-z\d-]+)+$/;
// Proxies add these headers to the requests that they forward.
const OF_PROXIES = new Set(['via', 'forwarded', 'x-real-ip']);

/** Forwards `/sandbox/…` to the sandbox gateway's controls, for clients on this machine only. */
export class SandboxProxy {
  readonly #gatewayUrl: string;
  readonly #origins: AllowedOrigins;

  constructor(gatewayUrl: string, origins: AllowedOrigins) {
    this.#gatewayUrl = gatewayUrl;
    this.#origins = origins;
  }

  /**
   * A page of any site can send requests to this machine; it may not use the controls, not even by DNS
   * rebinding. A client behind a proxy on this machine may not either.
   */
  isOpenTo({ socket, headers, url = '' }: IncomingMessage): boolean {
    const { origin, host } = headers;
    return (
      CONTROL_PATH.test(url.split('?', 1)[0] ?? '') &&
      isLoopback(socket.remoteAddress) &&
      !Object.keys(headers).some(isOfProxy) &&
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

function isOfProxy(header: string): boolean {
  return OF_PROXIES.has(header) || header.startsWith('x-forwarded-');
}

function isLoopback(address: string | undefined): boolean {
  const plain = plainAddress(address ?? '');
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
