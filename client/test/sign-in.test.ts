import { expect, onTestFinished, test } from 'vitest';
import { ACCOUNT_OPERATION } from '../src/account-operation.ts';
import { type ClientOptions, createClient } from '../src/create-client.ts';
import type { Environment } from '../src/environment.ts';
import { createRequests } from '../src/requests.ts';
import { fakeClient } from '../src/testing.ts';

/** The user of the app; each has an expired token, and a valid one. */
type User = 'a' | 'b';

const WHO = '{ session { login } }';
const BUY = 'mutation { buy }';
const REFUSED = { errors: [{ message: 'refused', extensions: { code: 'UNAUTHENTICATED' } }] };

/** A server that accepts the tokens `a2`, `b1` and `b2`, and records the requests. */
function open(token: ClientOptions['token']) {
  const sent: string[] = [];
  const fetch = async (_url: string, init: { body: string; headers: Record<string, string> }) => {
    const given = (init.headers.authorization ?? '').replace('Bearer ', '');
    const { query } = JSON.parse(init.body);
    sent.push(`${given}: ${query}`);
    const body = given === 'a1' ? REFUSED : { data: { session: { login: given[0] } } };
    return new Response(JSON.stringify(body));
  };
  const environment = {
    fetch: fetch as unknown as Environment['fetch'],
    random: () => 0,
    isServer: false,
  };
  const client = createClient({ url: 'http://facade/graphql', token, environment });
  onTestFinished(() => client.dispose());
  return { client, sent };
}

test.each([true, false])(
  'a token that was refused is renewed when its user is signed in again, where the app says so: %s',
  async (says) => {
    let user: User = 'a';
    let isDown = true;
    const { client } = open(({ force }) => {
      if (force && isDown) throw new Error('No token can be had.');
      return force ? `${user}2` : `${user}1`;
    });
    const signIn = async (next: User) => {
      user = next;
      if (says) await client.tokenChanged();
    };
    expect((await client.mutate(BUY)).errors).toMatchObject([{ code: 'NETWORK' }]);
    await signIn('b');
    expect((await client.query(WHO)).data).toEqual({ session: { login: 'b' } });
    isDown = false;
    await signIn('a');
    expect((await client.query(WHO)).data).toEqual({ session: { login: 'a' } });
  },
);

test.each(['fails', 'waits'] as const)(
  'a list is live as soon as its user has signed in anew, though a renewal %s',
  async (renewal) => {
    const { client, market } = fakeClient({ positions: [{ id: '1' }] });
    client.positions(() => {});
    await market.pass(1);
    await market.endToken(renewal);
    await market.pass(20);
    await market.signIn('700001');
    await client.tokenChanged();
    await market.pass(0);
    expect(client.positions.state().status).toBe('LIVE');
    client.dispose();
  },
);

test('a query goes on with the token of a new sign-in, though a renewal waits', async () => {
  const { client, market } = fakeClient({ data: () => ({ news: 1 }) });
  await market.endToken('waits');
  const query = client.query('{ news }');
  await market.pass(1);
  await market.signIn('700001');
  await client.tokenChanged();
  const late = market.pass(1).then(() => 'late');
  expect(await Promise.race([query, late])).toEqual({ data: { news: 1 }, errors: [] });
  client.dispose();
});

test('a token that waits for a request that waits for it fails, and the error says what is missing', async () => {
  const { client, market } = fakeClient({
    client: {
      async token() {
        const { data } = await client.query('{ fresh }');
        return data === null ? null : 'fresh';
      },
    },
  });
  const mutation = client.mutate('mutation { a }');
  await market.pass(31);
  const message = expect.stringMatching(/`anonymous`/);
  expect((await mutation).errors).toMatchObject([{ code: 'NETWORK', message }]);
  client.dispose();
});

test('a token that fails after a new sign-in fails nothing', async () => {
  const former = Promise.withResolvers<string>();
  let asked = 0;
  const { client } = open(() => {
    asked += 1;
    return asked === 1 ? former.promise : 'b1';
  });
  const mutation = client.mutate(BUY, {}, { anonymous: false, account: 'b' });
  await client.tokenChanged();
  former.reject(new Error('The former session is over.'));
  expect((await mutation).errors).toEqual([]);
});

test('a list goes on where another request has renewed the token that is refused its line', async () => {
  const { client, market } = fakeClient({ data: () => ({ news: null }) });
  const signedOut: unknown[] = [];
  client.positions(({ error }) => void signedOut.push(error?.code));
  await market.pass(0);
  await market.endToken();
  const [, line] = market.subscriptions.splice(0);
  await market.endToken();
  expect((await client.query('{ news }')).errors).toEqual([]);
  line?.cut(4403);
  await market.pass(2);
  expect(market.subscriptions.at(-1)?.token).toBe('token-3');
  expect(signedOut).not.toContain('SIGNED_OUT');
  client.dispose();
});

test('also where its renewal has brought the next user’s token', async () => {
  let user: User = 'a';
  const { client } = open(({ force }) => {
    const before = user;
    if (force && before === 'a' && !isBack) user = 'b';
    return force && isBack ? 'a2' : `${user}1`;
  });
  let isBack = false;
  expect((await client.query(WHO)).data).toEqual({ session: { login: 'b' } });
  isBack = true;
  user = 'a';
  await client.tokenChanged();
  expect((await client.query(WHO)).data).toEqual({ session: { login: 'a' } });
});

test('a question for the token that a failed one has overtaken is asked again', async () => {
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let asked = 0;
  const { client } = open(({ force }) => {
    asked += 1;
    return answers[asked - 1]?.promise ?? (force ? 'a2' : 'b1');
  });
  const query = client.query(WHO);
  const changed = client.tokenChanged();
  answers[1]?.reject(new Error('No token can be had.'));
  await changed;
  answers[0]?.resolve('a2');
  expect((await query).data).toEqual({ session: { login: 'b' } });
});

test('a mutation that waits for its token, or is repeated, is not sent for the account that signs in meanwhile', async () => {
  const slow = Promise.withResolvers<void>();
  let user: User = 'a';
  let isSlow = true;
  const { client, sent } = open(async () => {
    const held = `${user}2`;
    if (isSlow) await slow.promise;
    return held;
  });
  const waiting = [client.mutate(BUY), client.mutate({ documentId: 'buy' })];
  user = 'b';
  const changed = client.tokenChanged();
  isSlow = false;
  slow.resolve();
  await changed;
  for (const { errors } of await Promise.all(waiting))
    expect(errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
  expect(sent.filter((each) => !each.includes('login'))).toEqual([]);
  expect((await client.mutate(BUY)).errors).toEqual([]);
});

test('an order that was tapped before its account was named is placed, where the app says that it is the same', async () => {
  const { client, market, service } = doubtful();
  const held = Promise.withResolvers<void>();
  service.held = held.promise;
  const tapped = client.orders.ticket();
  const outcome = tapped.place({ symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } });
  await market.pass(0);
  const changed = client.tokenChanged();
  held.resolve();
  await changed;
  await market.pass(0);
  if (market.order !== null) await market.accept();
  expect((await outcome).status).toBe('accepted');
});

test('a query that is not repeated is answered for the present account', async () => {
  const slow = Promise.withResolvers<void>();
  let user: User = 'a';
  const { client } = open(async () => {
    await slow.promise;
    return `${user}2`;
  });
  const waiting = client.query(WHO, undefined, { repeats: false });
  user = 'b';
  const changed = client.tokenChanged();
  slow.resolve();
  await changed;
  expect((await waiting).data).toEqual({ session: { login: 'b' } });
});

/** A market whose service answers the question for the account, answers it with an error, or never. */
function doubtful() {
  const service = {
    is: 'there' as 'there' | 'down' | 'page' | 'silent' | 'wordless',
    asked: 0,
    hasTokens: true,
    held: Promise.resolve(),
  };
  const fake = fakeClient({
    positions: [{ id: '1' }],
    client: {
      token: (options) => {
        if (!service.hasTokens) throw new Error('No token can be had.');
        return fake.market.token(options);
      },
      environment: {
        fetch: async (url, init) => {
          const isAccount = JSON.parse(String(init?.body)).query === ACCOUNT_OPERATION;
          if (isAccount) service.asked += 1;
          if (isAccount) await service.held;
          if (!isAccount || service.is === 'there') return fetchOf(url, init);
          if (service.is === 'wordless') return new Response('{"data":{"session":null}}');
          if (service.is === 'page') return new Response('<html>Sign in</html>', { status: 401 });
          if (service.is === 'silent')
            return new Promise((_, reject) => {
              init?.signal?.addEventListener('abort', () => reject(new TypeError('aborted')));
            });
          const extensions = { code: 'GATEWAY_UNAVAILABLE', retryable: true };
          return new Response(JSON.stringify({ errors: [{ message: 'down', extensions }] }));
        },
      },
    },
  });
  const fetchOf = fake.market.network.environment().fetch;
  const told: (string | null)[] = [];
  fake.client.onAccountChange((login) => told.push(login));
  const signIn = async (login: string | null) => {
    await fake.market.signIn(login);
    await fake.client.tokenChanged();
  };
  return { ...fake, service, told, signIn };
}

test.each(['down', 'page'] as const)(
  'where the server does not say whose the new token is (%s), it is asked until it does, and the line is opened anew once',
  async (is) => {
    const { client, market, service, told, signIn } = doubtful();
    const { network } = market;
    client.positions(() => {});
    await client.query('{ news }', undefined, { account: 'nobody' });
    expect([client.login, network.tried]).toEqual(['700001', 1]);
    Object.assign(service, { is, asked: 0 });
    await signIn('700002');
    await market.pass(10);
    expect([network.tried, market.subscriptions.at(-1)?.token]).toEqual([2, 'token-2']);
    await market.pass(300);
    expect([network.tried, told]).toEqual([2, []]);
    expect(service.asked).toBeGreaterThan(10);
    expect(service.asked).toBeLessThan(100);
    service.hasTokens = false;
    await market.pass(60);
    Object.assign(service, { is: 'there', hasTokens: true });
    await market.pass(60);
    expect([client.login, told]).toEqual(['700002', ['700002']]);
    Object.assign(service, { is, asked: 0 });
    await market.pass(300);
    expect(service.asked).toBe(0);
    // The pauses start short again.
    await signIn('700001');
    await market.pass(3);
    service.is = 'there';
    await market.pass(5);
    expect(told).toEqual(['700002', '700001']);
    client.dispose();
    expect(network.pending).toBe(0);
  },
);

test.each(['down', 'silent'] as const)(
  'the account after a sign-out is asked for as well, and nothing is left of it when the client is disposed while the server is %s',
  async (is) => {
    const { client, market, service, told, signIn } = doubtful();
    await client.query('{ news }', undefined, { account: 'nobody' });
    await signIn(null);
    service.is = 'down';
    await signIn('700002');
    await market.pass(10);
    service.is = 'there';
    await market.pass(60);
    expect(told).toEqual([null, '700002']);
    service.is = 'down';
    await signIn('700001');
    await market.pass(10);
    service.is = is;
    await market.pass(40);
    client.dispose();
    await market.pass(0);
    expect(market.network.pending).toBe(0);
  },
);

test('an answer that no repeat would better is asked for once', async () => {
  const { client, market, service, signIn } = doubtful();
  await client.query('{ news }', undefined, { account: 'nobody' });
  Object.assign(service, { is: 'wordless', asked: 0 });
  await signIn('700002');
  await market.pass(300);
  expect(service.asked).toBe(1);
});

test('before any account is known, no more is asked than what needs it asks', async () => {
  const { client, market, service } = doubtful();
  service.is = 'down';
  await Promise.all([
    client.query('{ news }', undefined, { account: '700001', repeats: false }),
    market.pass(300),
  ]);
  expect(service.asked).toBe(3);
  client.dispose();
});

test('the first account that is known is no change, though the app has announced it', async () => {
  const { client, told, signIn } = doubtful();
  await signIn('700001');
  await client.query('{ news }', undefined, { account: 'nobody' });
  expect([client.login, told]).toEqual(['700001', []]);
});

test('a client without listeners asks once', async () => {
  const { market } = fakeClient({ data: () => ({ buy: null }) });
  const { network } = market;
  const environment = network.environment();
  const client = createRequests({ url: 'http://facade/graphql', token: market.token, environment });
  await client.mutate(BUY);
  await client.tokenChanged();
  await market.pass(0);
  expect(client.login).toBe(null);
  await client.query('{ news }', undefined, { account: 'nobody' });
  expect(client.login).toBe('700001');
  network.reach = 'gone';
  await market.signIn('700002');
  await client.tokenChanged();
  await market.pass(10);
  expect(network.pending).toBe(0);
});
