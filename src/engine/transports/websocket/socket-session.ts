import type { IncomingMessage } from 'node:http';
import type { RequestCaller } from '../../../lib/limits/caller.ts';
import { toToken } from '../../../lib/token.ts';
import type { ClientNaming } from '../../operation/request-summary.ts';
import { bearerText, isOfUser } from '../requests/bearer.ts';
import { CLIENT_NAME, CLIENT_VERSION, clientIn, clientNaming } from '../requests/client-names.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { headersIn, textIn } from './connection-params.ts';

// The limit of an HTTP request's headers.
const MAX_AUTHORIZATION_LENGTH = 16_384;

/** Whose socket it is, by its upgrade and its `connectionParams`. */
export class SocketSession {
  readonly requestId: string | string[] | undefined;
  /** Has no token before `connection_init`. */
  caller: RequestCaller;
  client: ClientNaming | null;
  /** The sign by which its client wants to learn that its token has ended. */
  onTokenEnd: 'close' | 'error' = 'close';
  /** The headers that are forwarded: those of `connectionParams`, and above them those of the upgrade. */
  headers: Readonly<Record<string, string>> = {};
  readonly #settings: ServerSettings;
  /** The token of its page's visitor, for a client that sends none. */
  readonly #cookieText: string | undefined;
  /** The headers of the upgrade that are forwarded: a proxy sets them there, as it does in any request. */
  readonly #upgraded: Readonly<Record<string, string>>;

  constructor(request: IncomingMessage, settings: ServerSettings) {
    const { addresses, cookie, forwarding } = settings;
    const { headers } = request;
    this.#settings = settings;
    this.requestId = headers['x-request-id'];
    const { origin } = headers;
    const client = { address: addresses.of(request), userAgent: headers['user-agent'] ?? null };
    this.caller = { token: null, client };
    this.client = clientIn(headers);
    // A browser names the page in `Origin`, and foreign pages were refused. Without `Origin` the cookie may be another page's.
    this.#cookieText = cookie?.textIn(origin === undefined ? '' : (headers.cookie ?? ''));
    this.#upgraded = forwarding.in(headers);
  }

  /** Reads `connectionParams`, and returns whether they are in order. The token is judged by the operations that use it. */
  initialize(params: unknown): 'accepted' | 'forbidden' | 'header' {
    const { forwarding, standingOf } = this.#settings;
    const authorization = textIn(params, 'authorization');
    if (authorization.length > MAX_AUTHORIZATION_LENGTH) return 'forbidden';
    const given = headersIn(params, forwarding.names);
    if (given === null) return 'header';
    this.headers = { ...given, ...this.#upgraded };
    const forwarded = forwarding.of(this.headers);
    const text = isOfUser(authorization) ? bearerText(authorization) : this.#cookieText;
    const token = text ? toToken(text, forwarded?.digest) : null;
    this.caller = { token, standing: standingOf(token), client: this.caller.client, forwarded };
    if (textIn(params, 'ontokenend') === 'error') this.onTokenEnd = 'error';
    this.client ??= clientNaming(textIn(params, CLIENT_NAME), textIn(params, CLIENT_VERSION));
    return 'accepted';
  }
}
