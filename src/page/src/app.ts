import {
  type Client,
  type ClientOptions,
  createClient,
} from '../../../client/src/create-client.ts';
import { TradingGraphError } from '../../../client/src/errors.ts';
import { LOGIN } from './documents.ts';
import { LiveLine } from './live-line.ts';

const PASSWORD = 'demo';
const FIRST_USER = 'demo@example.com';
export const ENDPOINT = new URL('graphql', location.href).href;

/** The parts of the page that its panels share. */
export interface App {
  readonly email: string;
  readonly client: Client;
  readonly line: LiveLine;
  /** The token of the signed-in user; with `force` a new one. */
  token(options: { readonly force: boolean }): Promise<string>;
  /** Creates another client of the same user, like another device, with its own connection. */
  anotherClient(send?: typeof fetch): Client;
}

export function createApp(): App {
  const email = userInAddress() ?? FIRST_USER;
  const line = new LiveLine();
  let currentToken: Promise<string> | null = null;
  const token: App['token'] = ({ force }) => {
    if (currentToken === null || force) {
      const signingIn = signIn(client, email);
      currentToken = signingIn;
      // After a failure, the next call signs in again.
      signingIn.catch(() => {
        if (currentToken === signingIn) currentToken = null;
      });
    }
    return currentToken;
  };
  const start = (environment: NonNullable<ClientOptions['environment']>) =>
    createClient({ url: ENDPOINT, token, environment });
  const client = start({ WebSocket: line.WebSocket });
  return { email, client, line, token, anotherClient: (send = fetch) => start({ fetch: send }) };
}

async function signIn(client: Client, email: string): Promise<string> {
  const variables = { email, password: PASSWORD };
  const { data, errors } = await client.mutate(LOGIN, variables, { anonymous: true });
  const token = data?.login?.accessToken;
  if (token !== undefined) return token;
  const message = data?.login?.message ?? 'Nobody could be signed in.';
  throw errors[0] ?? new TradingGraphError(message, { code: 'SIGN_IN', retryable: true });
}

/** The sandbox's user that a link from GraphiQL names. */
function userInAddress(): string | null {
  const user = new URLSearchParams(location.search).get('user');
  return user !== null && /^(?:demo|pro|fresh)@example\.com$/.test(user) ? user : null;
}
