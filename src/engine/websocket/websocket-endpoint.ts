import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { type PerMessageDeflateOptions, WebSocketServer } from 'ws';
import { steadyClock } from '../../lib/clock.ts';
import { addressClient, regarding } from '../../lib/limits/request-caller.ts';
import { RepeatedErrors } from '../../lib/repeated-errors.ts';
import { overLimit, type Refusal } from '../core/errors.ts';
import type { LimitLabel } from '../core/limits.ts';
import { duplicateHeader, foreignSocket, isAllowedPage } from '../requests/origins.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { GraphQLSocket } from './graphql-socket.ts';
import { serveProtocol } from './protocol.ts';

/** Options of `ws` that its types lack. Browsers send fragments of 128 kB. A slow network delivers chunks of 500 bytes. */
const MORE_OPTIONS: object = { maxFragments: 64, maxBufferedChunks: 1_024, closeTimeout: 2_000 };
/** Each message is compressed alone. `ws` keeps a compressor for each socket, so the compressor is a small one. */
const PER_MESSAGE_DEFLATE: PerMessageDeflateOptions = {
  threshold: 4_096,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 11,
  zlibDeflateOptions: { memLevel: 4, level: 3 },
};

const EXTENSIONS = 'sec-websocket-extensions';
/** An offer of compression with a smaller window than `serverMaxWindowBits`. */
const SMALLER_WINDOW = /server_max_window_bits\s*=\s*"?(?:8|9|10)\b/;

export class WebSocketEndpoint {
  readonly #services: TransportServices;
  readonly #server: WebSocketServer;
  readonly #refusedPages = new RepeatedErrors(steadyClock.now);

  constructor(services: TransportServices) {
    this.#services = services;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: services.maxBodyBytes,
      ...MORE_OPTIONS,
      perMessageDeflate: PER_MESSAGE_DEFLATE,
      verifyClient: ({ req }, answer) => {
        const refusal = this.#refusalOf(req);
        if (refusal === null) return answer(true);
        const { errors, status, headers } = refusal;
        // Without a content type `ws` would call it an HTML page.
        const json = { 'Content-Type': 'application/json; charset=utf-8' };
        return answer(false, status, JSON.stringify({ errors }), { ...json, ...headers });
      },
      // Handles one message a turn: one read may contain three thousand, and other clients get their turns in between.
      allowSynchronousEvents: false,
      // Accepts any subprotocol at first, because only an open socket can be closed with code 4406.
      handleProtocols: (protocols) => handleProtocols(protocols) || ([...protocols][0] ?? false),
    });
  }

  get size() {
    return this.#server.clients.size;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { headers } = request;
    // Declines the extension. With the header, `ws` would refuse the socket.
    if (SMALLER_WINDOW.test(headers[EXTENSIONS] ?? '')) delete headers[EXTENSIONS];
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#services.openConnections.upgraded(request.socket, webSocket);
      serveProtocol(new GraphQLSocket(webSocket, request, this.#services));
    });
  }

  terminate(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  /** Returns the refusal of an upgrade; null if it is accepted. */
  #refusalOf(request: IncomingMessage): Refusal | null {
    const { addresses, cookie, forwarding, limits, openConnections, origins } = this.#services;
    if (forwarding.hasDuplicate(request)) return duplicateHeader();
    if (!isAllowedPage(request, origins, cookie)) {
      this.#warnOfForeignPage(request);
      return foreignSocket();
    }
    // An upgrade cannot name its account, so upgrades have a budget that other requests from the address do not use up.
    const client = addressClient(addresses.addressOf(request));
    if (!limits.takeMessage(regarding(client, 'upgrades'))) return this.#overLimit('messages');
    // A trusted proxy's connection is not charged yet, so its client is charged for the socket.
    const isCharged = !addresses.isFromProxy(request);
    if (isCharged || openConnections.charge(request.socket, client)) return null;
    return this.#overLimit('connections');
  }

  #overLimit(limit: LimitLabel): Refusal {
    this.#services.errorMetrics.refusal(limit);
    return overLimit(limit);
  }

  #warnOfForeignPage({ headers: { origin, host } }: IncomingMessage): void {
    const count = this.#refusedPages.next('page');
    if (count === null) return;
    // A proxy may have rewritten `Host`, so that this server's own pages look like those of another site.
    const line = { origin, host, ...count };
    this.#services.log.warn(line, 'a WebSocket of another site was refused');
  }
}
