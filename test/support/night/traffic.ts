import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { postQuery } from '../app.ts';

const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } customerId catalog { version } }';
const ORDER = `mutation Order($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: $key }) { __typename }
}`;
const LOGIN = `mutation ($email: String!) {
  login(input: { email: $email, password: "demo" }) { ... on LoginSuccess { accessToken } }
}`;
const LIVE = 'subscription { positionChanges { status } }';

export interface Traffic {
  readonly accounts: number;
  readonly requestsPerSecond: number;
}

const REQUESTS_PER_ORDER = 5;
const WATCHERS = 20;
const RECONNECT_MS = 500;

/**
 * Steady requests of one account after the other, an order among every few, and a live list for each
 * of the first accounts. A client that is refused signs in again, as people do.
 */
export function startTraffic(
  url: string,
  { accounts, requestsPerSecond }: Traffic,
  signIn: (email: string) => string,
) {
  const tokens = new Map<number, string>();
  const emailOf = (user: number) => `user-${user}@example.com`;
  const tokenOf = (user: number) => {
    const token = tokens.get(user) ?? signIn(emailOf(user));
    tokens.set(user, token);
    return token;
  };
  let sent = 0;

  async function ask(): Promise<void> {
    const user = (sent % accounts) + 1;
    const isOrder = sent % REQUESTS_PER_ORDER === 0;
    sent += 1;
    const answer = await postQuery(`${url}/graphql`, isOrder ? ORDER : HOME, {
      token: tokenOf(user),
      variables: isOrder ? { key: `order-${sent}` } : {},
    });
    if (!answer.errors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED')) return;
    const variables = { email: emailOf(user) };
    const { data } = await postQuery(`${url}/graphql`, LOGIN, { variables });
    const token: unknown = data?.login?.accessToken;
    if (typeof token === 'string') tokens.set(user, token);
  }

  // A service that is away answers nothing: the scene's record has that already.
  const timer = setInterval(() => void ask().catch(() => {}), 1_000 / requestsPerSecond);
  const live = new Set<number>();
  let isOver = false;
  const watchers = Array.from({ length: WATCHERS }, (_, at) => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: () => ({ authorization: `Bearer ${tokenOf(at + 1)}` }),
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
      retryWait: () => delay(RECONNECT_MS, undefined, { ref: false }),
      on: {
        closed: (event) => {
          const { code } = event as { readonly code?: number };
          if (code === 4401 || code === 4403) tokens.delete(at + 1);
          live.delete(at);
        },
      },
    });
    const follow = () => {
      if (isOver) return;
      const again = () => {
        live.delete(at);
        setTimeout(follow, RECONNECT_MS).unref();
      };
      client.subscribe<{ positionChanges: { status: string } }>(
        { query: LIVE },
        {
          next({ data }) {
            if (data?.positionChanges.status === 'LIVE') live.add(at);
            else live.delete(at);
          },
          error: again,
          complete: again,
        },
      );
    };
    follow();
    return client;
  });
  return {
    /** The share of the watched lists that follow the gateway. */
    liveShare: () => live.size / WATCHERS,
    [Symbol.dispose]() {
      isOver = true;
      clearInterval(timer);
      for (const watcher of watchers) {
        // It rejects where it was about to connect to a service that is away.
        Promise.resolve(watcher.dispose()).catch(() => {});
      }
    },
  };
}
