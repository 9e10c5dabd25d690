import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { newKey } from '../../test/support/order-keys.ts';
import { sharedApp } from '../../test/support/shared-app.ts';
import { type ClientOptions, createClient } from '../src/create-client.ts';
import type { OwnEnvironment } from '../src/environment.ts';
import type { PositionsState } from '../src/index.ts';
import { timeOfKey } from '../src/orders/order-key.ts';
import type { TicketOptions } from '../src/orders/ticket.ts';
import { forRequest } from '../src/server.ts';

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000', ORDER_RATE_LIMIT_PER_MINUTE: '1000000' });
const USERS = ['demo@example.com', 'pro@example.com'] as const;
/** Asks which user the token belongs to. */
const WHO = '{ session { login } }';
/** A busy machine may answer later than by default. */
const PATIENT = { timeoutMs: 60_000 };
const BUY = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
/** The tokens of two users, with their logins. */
let tokens: readonly string[] = [];
let logins: readonly string[] = [];

interface Who {
  readonly session: { readonly login: string } | null;
}

const url = () => `${app.url}/graphql`;
/** Waits for this number of turns of the event loop. */
const waitTurns = (turns: number) =>
  new Promise<void>((resolve) => {
    const turn = (left: number) => (left === 0 ? resolve() : setImmediate(turn, left - 1));
    turn(turns);
  });

/** A client that all requests share. Its `token` answers late, with the token of the request that is being answered. */
function moduleClient(own: Partial<ClientOptions> = {}) {
  const request = new AsyncLocalStorage<string>();
  const token: ClientOptions['token'] = async () => {
    const ownToken = request.getStore() ?? null;
    // The wait depends on the length of the token, so that the token of one user can overtake that of the other.
    await waitTurns((ownToken?.length ?? 0) % 7);
    return ownToken;
  };
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const client = createClient({ url: url(), token, ...own });
  onTestFinished(() => {
    client.dispose();
    warned.mockRestore();
  });
  return { client, request, warned };
}

/** Asks two hundred times for two users in turn, fifty at a time. Returns the number of answers for the wrong user. */
async function wrongAnswers(ask: (token: string) => Promise<string | undefined>): Promise<number> {
  let wrong = 0;
  // The indexes of the users, in turn.
  const users = Array.from({ length: 50 }, (_, at) => at % 2);
  for (let asked = 0; asked < 200; asked += users.length) {
    const answers = await Promise.all(
      users.map(async (user) => {
        await waitTurns(user * 2);
        const login = await ask(tokens[user] ?? '');
        return login === logins[user] ? 'right' : 'wrong';
      }),
    );
    wrong += answers.filter((answer) => answer === 'wrong').length;
  }
  return wrong;
}

beforeEach(async () => {
  tokens = USERS.map((email) => app.sandbox.token({ email }));
  const answers = await Promise.all(
    tokens.map((token) => forRequest(token, { url: url() }).query<Who>(WHO, undefined, PATIENT)),
  );
  logins = answers.map(({ data }) => data?.session?.login ?? '');
  expect(new Set(logins).size).toBe(2);
});

/** Waits until the server takes keys that were made now: at first it refuses keys from before its start. */
const takesOrders = () =>
  eventually(async () => {
    const { orders } = forRequest(tokens[0] ?? '', { url: url() });
    expect(await orders.ticket().place(BUY)).toMatchObject({ status: 'accepted' });
  });

test('clients for single requests give no user another user’s answer, in two hundred interleaved requests', async () => {
  const ask = async (token: string) => {
    const client = forRequest(token, { url: url() });
    const { data } = await client.query<Who>(WHO, undefined, PATIENT);
    client.dispose();
    return data?.session?.login;
  };
  expect(await wrongAnswers(ask)).toBe(0);
});

test('a shared client gives no user the answer of another, and warns once that it is meant for one user', async () => {
  const { client, request, warned } = moduleClient();
  const byContext = (token: string) =>
    request.run(
      token,
      async () => (await client.query<Who>(WHO, undefined, PATIENT)).data?.session?.login,
    );
  expect(await wrongAnswers(byContext)).toBe(0);
  expect(warned.mock.calls).toEqual([[expect.stringContaining('forRequest')]]);
  const byCall = async (token: string) =>
    (await client.query<Who>(WHO, undefined, { token, ...PATIENT })).data?.session?.login;
  expect(await wrongAnswers(byCall)).toBe(0);
});

test('a refused token is renewed once for all requests that had it, and never replaced by another user’s token', async () => {
  let renewals = 0;
  const { client, request } = moduleClient({
    token: async ({ force }) => {
      if (force) renewals += 1;
      await waitTurns(3);
      return force && request.getStore() === 'ended'
        ? (tokens[0] ?? '')
        : (request.getStore() ?? '');
    },
  });
  const ask = (token: string) => request.run(token, () => client.query<Who>(WHO));
  const [own, ...refused] = await Promise.all([ask(tokens[1] ?? ''), ask('wrong'), ask('wrong')]);
  expect(own?.data?.session?.login).toBe(logins[1]);
  expect(refused).toMatchObject(Array(2).fill({ data: null }));
  expect(renewals).toBe(1);
  const renewed = await Promise.all([ask('ended'), ask('ended')]);
  expect(renewed.map(({ data }) => data?.session?.login)).toEqual([logins[0], logins[0]]);
  expect(renewals).toBe(2);
});

test('an order is placed for the user who places it, or is refused', async () => {
  const { client, request } = moduleClient();
  const before = app.sandbox.orders().length;
  const placed = await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const token = tokens[at % 2] ?? '';
      // The comment names the user, so that the sandbox shows for whom each order was meant.
      const comment = logins[at % 2] ?? '';
      await waitTurns(at % 3);
      const own = forRequest(token, { url: url() });
      const ends = [
        // Uses the request's own client. A service that has just started refuses keys from before its start.
        await eventually(async () => {
          const end = await own.orders.ticket().place({ ...BUY, comment });
          expect(end.status).toBe('accepted');
          return end;
        }),
        // Uses the shared client, which is allowed to refuse the order.
        await request.run(token, () => client.orders.ticket().place({ ...BUY, comment })),
      ];
      return ends.map(({ status }) => status);
    }),
  );
  expect(placed.map(([status]) => status)).toEqual(Array(10).fill('accepted'));
  const accepted = placed.flat().filter((status) => status === 'accepted');
  const orders = app.sandbox.orders().slice(before);
  expect(orders).toHaveLength(accepted.length);
  expect(orders.filter(({ comment, login }) => comment !== String(login))).toEqual([]);
});

test('an order whose key comes from a form keeps that key, and is unknown after an error', async () => {
  await takesOrders();
  const sent: string[] = [];
  let isCut = false;
  const environment: OwnEnvironment = {
    fetch: async (input, init) => {
      sent.push(String((init as RequestInit).body));
      if (isCut) throw Object.assign(new TypeError('refused'), { cause: { code: 'ECONNREFUSED' } });
      const answer = await fetch(input as string, init as RequestInit);
      if (sent.at(-1)?.includes('mutation PlaceOrder')) throw new TypeError('lost');
      return answer;
    },
  };
  // Orders on a cut connection get short times, because they use up all their time.
  const place = (own: TicketOptions) =>
    forRequest(tokens[0] ?? '', { url: url(), environment })
      .orders.ticket({ maxWaitMs: isCut ? 300 : 2_000, ...own })
      .place(BUY, { withinMs: isCut ? 2_000 : 60_000 });
  const keys = () =>
    sent.splice(0).flatMap((text) => text.match(/(?<="(?:idempotencyK|k)ey":")[^"]*/g) ?? []);
  expect(await place({})).toMatchObject({ status: 'accepted' });
  const [own = '', ...others] = new Set(keys());
  expect([Number(timeOfKey(own)) > 0, others]).toEqual([true, []]);
  // The answer of the order is lost, so the client voids the key: no order with this key is sent from then on.
  const key = newKey();
  await place({ idempotencyKey: key });
  expect(sent.join()).toContain('VoidOrder');
  expect(new Set(keys())).toEqual(new Set([key]));
  isCut = true;
  expect(await place({})).toMatchObject({ status: 'unsent' });
  expect(await place({ idempotencyKey: newKey() })).toMatchObject({ status: 'unknown' });
});

test('a request forbids caching, and the client reads no time or random number before it sends the request', async () => {
  const inits: (RequestInit | undefined)[] = [];
  const calls: string[] = [];
  const environment: OwnEnvironment = {
    fetch: (input, init) => {
      inits.push(init);
      expect(calls).toEqual([]);
      return fetch(input as string, init as RequestInit);
    },
    now: () => calls.push('now'),
    random: () => calls.push('random'),
    randomId: () => `${calls.push('randomId')}`,
  };
  const client = forRequest(tokens[0] ?? '', { url: url(), environment });
  client.orders.ticket();
  expect((await client.query<Who>(WHO)).data?.session?.login).toBe(logins[0]);
  expect(inits).toMatchObject([{ cache: 'no-store' }]);
});

test('an error by which a framework postpones rendering is rethrown, and the request is not repeated', async () => {
  let asked = 0;
  const dynamic = Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC' });
  const environment: OwnEnvironment = {
    fetch: () => {
      asked += 1;
      throw dynamic;
    },
  };
  const client = forRequest(null, { url: url(), environment });
  await expect(client.query(WHO)).rejects.toBe(dynamic);
  expect(asked).toBe(1);
});

/** Follows a client's positions within the request of a user. */
function followers({ client, request }: ReturnType<typeof moduleClient>) {
  const follow = (user: number) => {
    const states: PositionsState[] = [];
    request.run(tokens[user] ?? '', () => client.positions((state) => states.push(state)));
    return states;
  };
  /** The ids of all positions in these states. No position belongs to both users. */
  const ids = (states: readonly PositionsState[]) =>
    new Set(states.flatMap(({ positions }) => positions?.map(({ id }) => id) ?? []));
  return { follow, ids };
}

test('a list that one user follows ends with an error when a second user uses the client, and only the first sees rows', async () => {
  const list = '{ positions { id } }';
  const asked = await forRequest(tokens[0] ?? '', { url: url() }).query<{
    positions: { id: string }[];
  }>(list);
  const ownIds = new Set(asked.data?.positions.map(({ id }) => id));
  for (const second of ['follows', 'asks']) {
    const shared = moduleClient();
    const { client, request } = shared;
    const { follow, ids } = followers(shared);
    const [first, again] = [follow(0), follow(0)];
    for (const states of [first, again])
      await eventually(() => expect(states.at(-1)?.status).toBe('LIVE'));
    const other = second === 'follows' ? follow(1) : [];
    if (second === 'asks') {
      const { data } = await request.run(tokens[1] ?? '', () => client.query<Who>(WHO));
      expect(data?.session?.login).toBe(logins[1]);
    }
    // The second user adds a listener after the error.
    const late = await eventually(() => {
      expect(first.at(-1)?.error?.message).toContain('forRequest');
      return follow(1);
    });
    const followed = second === 'follows' ? [first, again, other, late] : [first, again, late];
    for (const states of followed) {
      await eventually(() => expect(states.at(-1)?.error?.message).toContain('isServer: false'));
      expect(states.at(-1)).toMatchObject({ status: 'OFFLINE', positions: null });
    }
    expect([ids(first), ids(again)]).toEqual([ownIds, ownIds]);
    expect([...ids(other), ...ids(late)]).toEqual([]);
  }
});

test('a client for one request refuses live lists with a message, and answers queries without a token', async () => {
  const client = forRequest(null, { url: url() });
  for (const name of ['positions', 'account', 'subscribe'])
    expect(() => Object(client)[name](() => {})).toThrow('in the browser');
  expect((await client.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  expect((await client.query(WHO)).errors).toMatchObject([{ code: 'UNAUTHENTICATED' }]);
});
