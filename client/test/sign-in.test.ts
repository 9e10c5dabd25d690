import { expect, onTestFinished, test } from 'vitest';
import { ACCOUNT_OPERATION } from '../src/account-operation.ts';
import { type ClientOptions, createClient } from '../src/create-client.ts';
import type { Environment } from '../src/environment.ts';
import { createRequests, type RequestsClient } from '../src/requests.ts';
import { fakeClient } from '../src/testing.ts';

/** A user of the app. Each user has two tokens, such as `a1` and `a2`. The server refuses `a1` alone. */
type User = 'a' | 'b';

const WHO = '{ session { login } }';
const BUY = 'mutation { buy }';
const REFUSED = { errors: [{ message: 'refused', extensions: { code: 'UNAUTHENTICATED' } }] };

/** A client of a server that refuses the token `a1` alone, and records all requests. */
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

/** Makes the client ask for its login: a request for another account needs the login, and is then not sent. */
const learnLogin = (client: Pick<RequestsClient, 'query'>) =>
  client.query('{ news }', undefined, { account: 'nobody' });

test.each([true, false])(
  'a token that was refused before another user signed in is renewed for its own user; `tokenChanged` is called: %s',
  async (isAnnounced) => {
    let user: User = 'a';
    let isDown = true;
    const { client } = open(({ force }) => {
      if (force && isDown) throw new Error('There is no token.');
      return force ? `${user}2` : `${user}1`;
    });
    const signIn = async (next: User) => {
      user = next;
      if (isAnnounced) await client.tokenChanged();
    };
    expect((await client.mutate(BUY)).errors).toMatchObject([{ code: 'NETWORK' }]);
    await signIn('b');
    expect((await client.query(WHO)).data).toEqual({ session: { login: 'b' } });
    isDown = false;
    await signIn('a');
    expect((await client.query(WHO)).data).toEqual({ session: { login: 'a' } });
  },
);

test('a query is sent with the token of a new sign-in while a renewal still waits', async () => {
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

test('a token function that itself waits for a request with a token fails with an error that names `anonymous`', async () => {
  const { client, market } = fakeClient({
    client: {
      async token() {
        const { data } = await client.query('{ fresh }');
        return data === null ? null : 'fresh';
      },
    },
  });
  const mutation = client.mutate('mutation { a }');
  // The client waits for a token for 30 seconds.
  await market.pass(31);
  const message = expect.stringMatching(/`anonymous`/);
  expect((await mutation).errors).toMatchObject([{ code: 'NETWORK', message }]);
  client.dispose();
});

test('no request fails if the former user’s token fails after a new sign-in', async () => {
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

test('if a second call for the token fails before the first one answers, the token is asked for again', async () => {
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let asked = 0;
  const { client } = open(({ force }) => {
    asked += 1;
    return answers[asked - 1]?.promise ?? (force ? 'a2' : 'b1');
  });
  const query = client.query(WHO);
  const changed = client.tokenChanged();
  answers[1]?.reject(new Error('There is no token.'));
  await changed;
  answers[0]?.resolve('a2');
  expect((await query).data).toEqual({ session: { login: 'b' } });
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

/** A fake client whose service answers the request for the account's name as `state` says, and all others as usual. */
function startUnnamed() {
  const service = {
    /** The answer names the account, is an error, is a web page, does not arrive, or has no session. */
    state: 'there' as 'there' | 'down' | 'page' | 'silent' | 'nameless',
    /** How often the account was requested. */
    asked: 0,
    hasTokens: true,
    /** Answers that name the account wait for this. */
    answering: Promise.resolve(),
  };
  const fake = fakeClient({
    positions: [{ id: '1' }],
    client: {
      token: (options) => {
        if (!service.hasTokens) throw new Error('There is no token.');
        return fake.market.token(options);
      },
      environment: {
        fetch: async (url, init) => {
          const isAccount = JSON.parse(String(init?.body)).query === ACCOUNT_OPERATION;
          if (isAccount) service.asked += 1;
          if (isAccount) await service.answering;
          if (!isAccount || service.state === 'there') return fetchOf(url, init);
          if (service.state === 'nameless') return new Response('{"data":{"session":null}}');
          if (service.state === 'page')
            return new Response('<html>Sign in</html>', { status: 401 });
          if (service.state === 'silent')
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
  const accounts: (string | null)[] = [];
  fake.client.onAccountChange((login) => accounts.push(login));
  const signIn = async (login: string | null) => {
    await fake.market.signIn(login);
    await fake.client.tokenChanged();
  };
  return { ...fake, service, accounts, signIn };
}

test.each(['down', 'page'] as const)(
  'the account of a new token is requested until the server names it, and one new connection opens (first state: %s)',
  async (state) => {
    const { client, market, service, accounts, signIn } = startUnnamed();
    const { network } = market;
    client.positions(() => {});
    await learnLogin(client);
    expect([client.login, network.tried]).toEqual(['700001', 1]);
    Object.assign(service, { state, asked: 0 });
    await signIn('700002');
    await market.pass(10);
    expect([network.tried, market.subscriptions.at(-1)?.token]).toEqual([2, 'token-2']);
    await market.pass(300);
    expect([network.tried, accounts]).toEqual([2, []]);
    // The client asks again and again, with pauses.
    expect(service.asked).toBeGreaterThan(10);
    expect(service.asked).toBeLessThan(100);
    // The client also continues after a time without tokens.
    service.hasTokens = false;
    await market.pass(60);
    Object.assign(service, { state: 'there', hasTokens: true });
    await market.pass(60);
    expect([client.login, accounts]).toEqual(['700002', ['700002']]);
    // Once the account is known, it is not requested any more.
    Object.assign(service, { state, asked: 0 });
    await market.pass(300);
    expect(service.asked).toBe(0);
    // The back-off starts again with short delays.
    await signIn('700001');
    await market.pass(3);
    service.state = 'there';
    await market.pass(5);
    expect(accounts).toEqual(['700002', '700001']);
    client.dispose();
    expect(network.pending).toBe(0);
  },
);

test('before any account is known, the account is requested only for the request that needs it', async () => {
  const { client, market, service } = startUnnamed();
  service.state = 'down';
  await Promise.all([
    client.query('{ news }', undefined, { account: '700001', repeats: false }),
    market.pass(300),
  ]);
  // One request for the account has three attempts.
  expect(service.asked).toBe(3);
  client.dispose();
});

test('listeners are not called for the first account, even if the app has announced it', async () => {
  const { client, accounts, signIn } = startUnnamed();
  await signIn('700001');
  await learnLogin(client);
  expect([client.login, accounts]).toEqual(['700001', []]);
});

test('a client without listeners does not request the account again', async () => {
  const { market } = fakeClient({ data: () => ({ buy: null }) });
  const { network } = market;
  const environment = network.environment();
  const client = createRequests({ url: 'http://facade/graphql', token: market.token, environment });
  await client.mutate(BUY);
  await client.tokenChanged();
  await market.pass(0);
  expect(client.login).toBe(null);
  await learnLogin(client);
  expect(client.login).toBe('700001');
  network.reach = 'gone';
  await market.signIn('700002');
  await client.tokenChanged();
  await market.pass(10);
  expect(network.pending).toBe(0);
});
