import { type Client, type ClientOptions, createClient } from '../../client/src/create-client.ts';
import { TradingGraphError } from '../../client/src/errors.ts';
import { indexedDb } from '../../client/src/storage/indexed-db.ts';
import { CallMonitor } from './call-monitor.ts';
import { LOGIN } from './documents.ts';
import { type LineObserver, LiveLine } from './live-line.ts';
import { answerOf, noteCall } from './network.ts';
import { Session } from './session.ts';

const PASSWORD = 'demo';
const NAME = /(?:query|mutation) (\w+)/;
/** The names that the client gives the operations of its catalog. */
const CATALOG = /query TradingGraphCatalog/;
export const ENDPOINT = new URL('graphql', location.href).href;

/** The objects that the panels share. */
export interface App {
  readonly client: Client;
  readonly session: Session;
  readonly line: LiveLine;
  readonly calls: CallMonitor;
  /** The bytes of all answers so far that were the catalog, or its changes. */
  catalogBytes(): number;
  /** Another client of the same user, with a socket of its own, as another device has, and maybe a line of its own. */
  anotherClient(send?: typeof fetch): Client;
  /** The app started once more: a client with the same storage. */
  restarted(): Client;
  switchUser(email: string): Promise<void>;
  /** Calls back when another user is chosen, who may not be signed in yet. */
  onUserChange(listener: () => void): void;
  /** Calls back when the server answers again, or somebody could be signed in again. */
  onReturn(listener: () => void): void;
}

export function createApp(observer: LineObserver): App {
  let catalogBytes = 0;
  const onUserChange = new Set<() => void>();
  const onReturn = new Set<() => void>();
  const line = new LiveLine(observer);
  const session: Session = new Session((email) => signIn(client, email));
  const ofUser: Pick<ClientOptions, 'url' | 'token'> = {
    url: ENDPOINT,
    token: (options) => session.token(options),
  };
  const counted: typeof fetch = async (input, init) => {
    const sentAt = performance.now();
    const request = fetch(input, init);
    const body = String(init?.body);
    void answerOf(request.then((response) => response.clone())).then((answer) => {
      noteCall(NAME.exec(body)?.[1] ?? 'query', performance.now() - sentAt, answer);
    });
    const response = await request;
    if (CATALOG.test(body)) {
      catalogBytes += Number(response.headers.get('content-length') ?? 0);
    }
    return response;
  };
  const start = (environment: NonNullable<ClientOptions['environment']>) =>
    createClient({ ...ofUser, storage: indexedDb({ name: 'trading-graph-demo' }), environment });
  const client: Client = start({ WebSocket: line.WebSocket, fetch: counted });
  const calls = new CallMonitor();
  let wasGone = false;
  let wasAway = false;
  const lookAgain = () => {
    const isGone = calls.outage !== null;
    if (wasGone && !isGone) session.forgetFailure();
    wasGone = isGone;
    const isSignedOut = session.problem !== null;
    // A client that waits for a token tries by itself, but after longer and longer pauses.
    if (isSignedOut && !isGone) void session.token({ force: false }).catch(() => {});
    const isBack = wasAway && !isGone && !isSignedOut;
    wasAway = isGone || isSignedOut;
    if (!isBack) return;
    // The client takes it for the network's return, and does not wait out its pauses either.
    dispatchEvent(new Event('online'));
    for (const listener of onReturn) listener();
  };
  calls.onChange(lookAgain);
  return {
    client,
    session,
    line,
    calls,
    catalogBytes: () => catalogBytes,
    anotherClient: (send = counted) => createClient({ ...ofUser, environment: { fetch: send } }),
    restarted: () => start({ fetch: counted }),
    async switchUser(email) {
      // What the former user saw ends here, even where the server cannot be asked who comes next.
      session.leave();
      await client.tokenChanged();
      session.switchTo(email);
      const changed = client.tokenChanged();
      for (const listener of onUserChange) listener();
      await changed;
    },
    onUserChange: (listener) => void onUserChange.add(listener),
    onReturn: (listener) => void onReturn.add(listener),
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
