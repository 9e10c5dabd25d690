import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import {
  type AllowedOrigins,
  type HttpExchange,
  isAllowedPage,
  type Site,
} from '../../engine/index.ts';
import { plainAddress } from '../../lib/limits/request-caller.ts';

export interface SandboxProxyOptions {
  readonly gatewayUrl: string;
  readonly origins: AllowedOrigins;
}

// The paths of the controls. A dot segment, in any encoding, does not match: it would lead to the gateway's operations.
const CONTROL_PATH = /^(?:\/[a-z\d-]+)+$/;
const GATEWAY = '/sandbox/gateway';
// Proxies add these headers to the requests that they forward.
const PROXY_HEADERS = /^(?:via|forwarded|x-real-ip|x-forwarded-.*)$/;
// Headers that concern one connection only, and headers that the service sets itself.
const NOT_PASSED_ON = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'vary']);

/** Forwards `/sandbox/…` to the sandbox's controls, and `/sandbox/gateway/…` to its operations. For this machine only. */
export class SandboxProxy implements Site {
  readonly #options: SandboxProxyOptions;

  constructor(options: SandboxProxyOptions) {
    this.#options = options;
  }

  answer(exchange: HttpExchange, path: string): Promise<void> | null {
    if (!path.startsWith('/sandbox/')) return null;
    const target = this.#targetOf(exchange.request.url ?? '');
    return target !== null && this.isOpenTo(exchange.request)
      ? this.#forward(exchange, target)
      : null;
  }

  /**
   * Refuses pages of other sites, which can send requests to this machine, also by DNS rebinding. Also refuses the clients
   * of a proxy on this machine. A proxy is recognized by its headers, or by HTTP/1.0, which nginx speaks by default.
   */
  isOpenTo(request: IncomingMessage): boolean {
    const { socket, headers } = request;
    return (
      isLoopback(socket.remoteAddress) &&
      request.httpVersion !== '1.0' &&
      !Object.keys(headers).some((name) => PROXY_HEADERS.test(name)) &&
      isThisMachine(headers.host) &&
      isAllowedPage(request, this.#options.origins, null)
    );
  }

  #forward(exchange: HttpExchange, target: URL): Promise<void> {
    const { request } = exchange;
    const isOperation = request.url?.startsWith(`${GATEWAY}/`) === true;
    return new Promise((resolve, reject) => {
      const lost = (error: Error) => {
        // Only a failed control is an error of the service: faults of operations reset connections on purpose.
        if (!isOperation && !exchange.disconnected.aborted) return reject(error);
        if (!exchange.abort()) exchange.sendNothing(502);
        resolve();
      };
      const { host: _host, connection: _connection, ...headers } = request.headers;
      // The signal ends a hanging call if the client disconnects.
      const init = { method: request.method, headers, signal: exchange.disconnected };
      const onward = httpRequest(target, init, (answer) => {
        const { statusCode = 502 } = answer;
        // The sandbox's encoding, length and age replace those that the service would set.
        for (const [name, value = ''] of Object.entries(answer.headers)) {
          if (!NOT_PASSED_ON.has(name)) exchange.headers[name] = String(value);
        }
        answer.pipe(exchange.begin(statusCode));
        answer.once('end', resolve);
        answer.once('error', lost);
      });
      onward.once('error', lost);
      request.pipe(onward);
    });
  }

  /** The address to forward to; null if the path belongs to neither a control nor an operation. */
  #targetOf(url: string): URL | null {
    const { gatewayUrl } = this.#options;
    const path = url.split('?', 1)[0] ?? '';
    if (!path.startsWith(`${GATEWAY}/`)) {
      return CONTROL_PATH.test(path) ? new URL(url, gatewayUrl) : null;
    }
    const operationPath = path.slice(GATEWAY.length);
    const target = new URL(gatewayUrl);
    // The gateway's path ends with a slash, with which the operation's path begins.
    target.pathname += operationPath.slice(1);
    target.search = url.slice(path.length);
    // If URL parsing changes a path, because of dot segments in any encoding, the path belongs to no operation.
    const isPlain = target.pathname.endsWith(operationPath) && !operationPath.startsWith('//');
    const isControl = operationPath.startsWith('/sandbox');
    return isPlain && !isControl ? target : null;
  }
}

function isThisMachine(host: string | undefined): boolean {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isLoopback(name);
}

function isLoopback(address: string | undefined): boolean {
  const plain = plainAddress(address ?? '');
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
