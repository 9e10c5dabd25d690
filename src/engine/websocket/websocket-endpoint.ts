import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { type PerMessageDeflateOptions, type VerifyClientCallbackAsync, WebSocketServer } from 'ws';
import { steadyClock } from '../../lib/clock.ts';
import { addressClient, regarding } from '../../lib/limits/request-caller.ts';
import { RepeatedErrors } from '../../lib/repeated-errors.ts';
import { overLimit, type Refusal, refused } from '../operation/errors.ts';
import { duplicateHeader, foreignSocket, isAllowedPage } from '../requests/origins.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { GraphQLSocket } from './graphql-socket.ts';

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

/** The answer to an upgrade: whether it is accepted, and if not, the status, the body and headers. */
type Verdict = Parameters<Parameters<VerifyClientCallbackAsync<IncomingMessage>>[1]>;
const RETRY_SECONDS = 10;

export class WebSocketEndpoint {
  readonly #settings: ServerSettings;
  readonly #server: WebSocketServer;
  readonly #refusedPages = new RepeatedErrors(steadyClock.now);

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: settings.maxBodyBytes,
      ...MORE_OPTIONS,
      perMessageDeflate: PER_MESSAGE_DEFLATE,
      verifyClient: ({ req }, answer) => answer(...this.#verdictOn(req)),
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
      this.#settings.openConnections.upgraded(request.socket, webSocket);
      new GraphQLSocket(webSocket, request, this.#settings);
    });
  }

  terminate(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  #verdictOn(request: IncomingMessage): Verdict {
    const { addresses, cookie, forwarding, log, messages, openConnections, origins } =
      this.#settings;
    if (forwarding.hasDuplicate(request)) return inJson(refused([duplicateHeader()]));
    if (!isAllowedPage(request, origins, cookie)) {
      const { origin, host } = request.headers;
      const count = this.#refusedPages.next('page');
      // A proxy may have rewritten `Host`, so that this server's own pages look like those of another site.
      if (count !== null)
        log.warn({ origin, host, ...count }, 'a WebSocket of another site was refused');
      return inJson(refused([foreignSocket()], 403));
    }
    // An upgrade cannot name its account, so upgrades have a budget that other requests from the address do not use up.
    const client = addressClient(addresses.addressOf(request));
    if (!messages.take(regarding(client, 'upgrades')))
      return inJson(overLimit('messages', RETRY_SECONDS));
    // A trusted proxy's connection is not charged yet, so its client is charged for the socket.
    const isCharged = !addresses.isFromProxy(request);
    if (isCharged || openConnections.charge(request.socket, client)) return [true];
    this.#settings.refused('connections');
    return inJson(overLimit('connections', RETRY_SECONDS));
  }
}

/** The refusal in JSON. Without a content type `ws` would call it an HTML page. */
function inJson({ errors, status, headers }: Refusal): Verdict {
  const json = { 'Content-Type': 'application/json; charset=utf-8' };
  return [false, status, JSON.stringify({ errors }), { ...json, ...headers }];
}
