import { type Client, createClient } from '../../client/src/create-client.ts';
import { TradingGraphError } from '../../client/src/errors.ts';
import { indexedDb } from '../../client/src/storage/indexed-db.ts';
import { CallMonitor } from './call-monitor.ts';
import { LOGIN } from './documents.ts';
import { type LineObserver, LiveLine } from './live-line.ts';
import { Session } from './session.ts';

const PASSWORD = 'demo';
/** The names that the client gives the operations of its catalog, and the page its own. */
const CATALOG = /query (?:TradingGraph|Whole)Catalog/;
export const ENDPOINT = new URL('/graphql', location.href).href;

/** The objects that the panels share. */
export interface App {
  readonly client: Client;
  readonly session: Session;
  readonly line: LiveLine;
  readonly calls: CallMonitor;
  /** The bytes of all answers so far that were the catalog, or its changes. */
  catalogBytes(): number;
  /** Another client of the same user, with a socket of its own, as another device has. */
  anotherClient(): Client;
  switchUser(email: string): Promise<void>;
  onUserChange(listener: () => void): void;
}

export function createApp(observer: LineObserver): App {
  let catalogBytes = 0;
  const listeners = new Set<() => void>();
  const line = new LiveLine(observer);
  const session: Session = new Session((email) => signIn(client, email));
  const client: Client = createClient({
    url: ENDPOINT,
    token: (options) => session.token(options),
    storage: indexedDb({ name: 'trading-graph-demo' }),
    environment: {
      WebSocket: line.WebSocket,
      async fetch(input, init) {
        const response = await fetch(input, init);
        if (CATALOG.test(String(init?.body))) {
          catalogBytes += Number(response.headers.get('content-length') ?? 0);
        }
        return response;
      },
    },
  });
  return {
    client,
    session,
    line,
    calls: new CallMonitor(),
    catalogBytes: () => catalogBytes,
    anotherClient: () =>
      createClient({ url: ENDPOINT, token: (options) => session.token(options) }),
    async switchUser(email) {
      session.switchTo(email);
      await client.tokenChanged();
      for (const listener of listeners) listener();
    },
    onUserChange(listener) {
      listeners.add(listener);
    },
  };
}

async function signIn(client: Client, email: string): Promise<string> {
  const variables = { email, password: PASSWORD };
  const { data, errors } = await client.mutate(LOGIN, variables, { anonymous: true });
  const token = data?.login?.accessToken;
  if (token !== undefined) return token;
  const message = data?.login?.message ?? 'Nobody could be signed in.';
  throw errors[0] ?? new TradingGraphError(message, { code: 'SIGN_IN', retryable: true });
}
