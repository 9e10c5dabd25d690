import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { type PerMessageDeflateOptions, WebSocketServer } from 'ws';
import { addressClient, regarding } from '../../../lib/limits/client.ts';
import { RepeatedErrors } from '../../../lib/repeated-errors.ts';
import { hasBody } from '../requests/has-body.ts';
import { isAllowedPage } from '../requests/origins.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { GraphQLSocket } from './graphql-socket.ts';

/** Options of `ws` that its types lack. Browsers send fragments of 128 kB, and a slow network parts of 500 bytes. */
const MORE_OPTIONS: object = { maxFragments: 64, maxBufferedChunks: 1_024, closeTimeout: 2_000 };
/** No message depends on another, because context takeover is off. `ws` keeps a compressor for each socket, so it is a small one. */
const PER_MESSAGE_DEFLATE: PerMessageDeflateOptions = {
  threshold: 4_096,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 11,
  zlibDeflateOptions: { memLevel: 4, level: 3 },
};

const EXTENSIONS = 'sec-websocket-extensions';
/** An offer with a smaller window than ours. */
const SMALLER_WINDOW = /server_max_window_bits\s*=\s*"?(?:8|9|10)\b/;

/** The status line with additional headers, and the reason for the log. */
type UpgradeRefusal = readonly [head: string, reason: string];
const BAD_REQUEST = '400 Bad Request\r\nsec-websocket-version: 13';
const TOO_MANY: UpgradeRefusal = ['429 Too Many Requests\r\nretry-after: 10', 'too many'];

/** Accepts upgrades to WebSockets. */
export class WebSocketEndpoint {
  readonly #settings: ServerSettings;
  readonly #server: WebSocketServer;
  readonly #repeated: RepeatedErrors;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#repeated = new RepeatedErrors(() => settings.connections.clock.now());
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: settings.maxBodyBytes,
      ...MORE_OPTIONS,
      perMessageDeflate: PER_MESSAGE_DEFLATE,
      // Handles one message a turn: a read may contain three thousand, and other clients get their turns in between.
      allowSynchronousEvents: false,
      // Accepts any subprotocol at first. Otherwise the client could not receive close code 4406.
      handleProtocols: (protocols) => handleProtocols(protocols) || ([...protocols][0] ?? false),
    });
    this.#server.on('wsClientError', ({ message }, socket, request) =>
      this.#refuse(request, socket, [BAD_REQUEST, message]),
    );
  }

  get size() {
    return this.#server.clients.size;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = this.#refusalOf(request, socket);
    if (refusal !== null) {
      this.#refuse(request, socket, refusal);
      return;
    }
    const { headers } = request;
    // An extension may be declined, but the socket may not be refused for it.
    if (SMALLER_WINDOW.test(headers[EXTENSIONS] ?? '')) delete headers[EXTENSIONS];
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#settings.openConnections.upgraded(request.socket, webSocket);
      new GraphQLSocket(webSocket, request, this.#settings);
    });
  }

  terminate(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  #refusalOf(request: IncomingMessage, socket: Duplex): UpgradeRefusal | null {
    const { addresses, cookie, forwarding, messages, openConnections, origins, refused } =
      this.#settings;
    if (forwarding.comesTwice(request)) return [BAD_REQUEST, 'a forwarded header comes twice'];
    if (!isAllowedPage(request, origins, cookie)) {
      return ['403 Forbidden', 'it is from a page of another site'];
    }
    // If there is a body, Node 26 passes something other than the connection, which `ws` cannot read. Node 24 passes the
    // body as the first frames.
    if (socket !== request.socket || hasBody(request)) return [BAD_REQUEST, 'it has a body'];
    // Upgrades cannot name their account, so they are counted apart: other requests from their address must not use them
    // up.
    const client = addressClient(addresses.of(request));
    if (!messages.take(regarding(client, 'upgrades'))) return TOO_MANY;
    // A trusted proxy's connection is not charged yet, so its client is charged for the socket.
    if (!addresses.isFromProxy(request) || openConnections.charge(request.socket, client))
      return null;
    refused('connections');
    return TOO_MANY;
  }

  /**
   * The log shows what is wrong with a proxy: if it rewrites `Host`, this server's own pages look foreign, and so do React
   * Native's apps on Android. If it passes on only half of the headers, every upgrade is malformed.
   */
  #refuse({ headers }: IncomingMessage, socket: Duplex, [head, reason]: UpgradeRefusal): void {
    const { origin, host } = headers;
    const count = this.#repeated.next(reason);
    if (count !== null) {
      this.#settings.log.warn({ reason, origin, host, ...count }, 'a WebSocket was refused');
    }
    socket.on('error', () => {});
    // Node no longer applies its deadlines to the connection, so a client could keep it open.
    socket.once('finish', () => socket.destroy());
    socket.end(`HTTP/1.1 ${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
}
