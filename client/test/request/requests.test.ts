import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { CLIENT_REQUESTS } from '../../../test/support/client-requests.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { createClient } from '../../src/create-client.ts';
import type { TypedText } from '../../src/operation.ts';
import { fakeClient } from '../../src/testing.ts';
import { startCore } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const BALANCE: TypedText<{ session: { balance: number } | null }, undefined> =
  '{ session { balance } }';
/** Skips all pauses between attempts. Timeouts are 15 seconds or longer, and are kept. */
const hurriedEnvironment = () => countedEnvironment({ hurry: (ms) => (ms < 15_000 ? 0 : ms) });

const app = ownApp();

describe('a query', () => {
  test('returns its data, fails with DISPOSED after `dispose`, and leaves no timer', async () => {
    using core = startCore(app);
    const { data, errors } = await core.request(BALANCE, undefined);
    expect(errors).toEqual([]);
    expect(data?.session?.balance).toBeTypeOf('number');
    const request = core.request(BALANCE, undefined);
    core.dispose();
    expect((await request).errors).toMatchObject([{ code: 'DISPOSED' }]);
    expect((await core.request(BALANCE, undefined)).errors).toMatchObject([{ code: 'DISPOSED' }]);
    expect(core.countedEnvironment.timers.size).toBe(0);
  });

  test('has the headers with which the service is tested', async () => {
    const [recorded] = CLIENT_REQUESTS.filter(({ client }) => client === 'trading-graph-client');
    const sent: object[] = [];
    const recording: typeof fetch = (target, init) => {
      const headers = new Headers(init?.headers);
      const accept = headers.get('accept');
      sent.push({ method: init?.method, accept, contentType: headers.get('content-type') });
      return fetch(target, init);
    };
    using core = startCore(app, { environment: countedEnvironment({ fetch: recording }) });
    await core.request(BALANCE, undefined);
    const { method, accept, contentType } = recorded ?? {};
    expect(sent).toEqual([{ method, accept, contentType }]);
  });

  test('is repeated four times after an error without data, and never after an error beside some data', async () => {
    using core = startCore(app, { environment: hurriedEnvironment() });
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500 });
    const { data, errors } = await core.request(
      '{ session { balance } positions { id } }',
      undefined,
    );
    expect(data).toMatchObject({ session: { balance: expect.any(Number) }, positions: null });
    expect(errors).toMatchObject([
      { code: 'GATEWAY_UNAVAILABLE', retryable: true, path: ['positions'] },
    ]);
    expect(errors[0]?.requestId).toBeTypeOf('string');
    const waits = () => core.countedEnvironment.pauses.filter((ms) => ms < 15_000);
    expect(waits()).toEqual([]);
    const failed = await core.request('{ positions { id } }', undefined);
    expect(failed.errors).toMatchObject([{ code: 'GATEWAY_UNAVAILABLE' }]);
    expect(waits()).toHaveLength(4);
    // The back-off is at most 1, 2, 4 and 8 seconds.
    expect(Math.max(...waits())).toBeLessThanOrEqual(8_000);
  });

  test('ignores empty options, and refuses an option `signal` that is no signal', async () => {
    using core = startCore(app);
    for (const options of [null, { signal: null }, { timeoutMs: Number.NaN }, { timeoutMs: null }])
      expect((await core.request(BALANCE, undefined, options as never)).errors).toEqual([]);
    // The controller itself, in place of its signal.
    const signal = new AbortController() as never;
    const { errors } = await core.request(BALANCE, undefined, { signal });
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT', extensions: { argument: 'signal' } }]);
  });

  test('waits at least as long as the server asks', async () => {
    const { client, market } = fakeClient();
    void client.query('{ a }');
    await market.pass(0);
    market.waiting[0]?.fail({ code: 'RATE_LIMITED', retryable: true, retryAfter: 20 });
    const isSentAgain = () => market.waiting[0]?.isOver === false;
    expect(await market.network.time.pass(19_999, isSentAgain)).toBe(false);
    client.dispose();
  });

  test('ends within the time of all attempts', async () => {
    const { client, market } = fakeClient();
    const { time } = market.network;
    market.network.reach = 'gone';
    const lost = client.query('{ a }', undefined, { timeoutMs: 2_000 });
    const end = { code: 'NETWORK', message: 'The server cannot be reached.' };
    let isOver = false;
    void lost.then(() => {
      isOver = true;
    });
    expect(await time.pass(2_000, () => isOver)).toBe(true);
    expect((await lost).errors).toMatchObject([end]);
    market.network.reach = 'dead';
    const silent = client.query('{ a }', undefined, { timeoutMs: 2_000 });
    await market.pass(2);
    expect((await silent).errors).toMatchObject([{ message: 'No answer came in time.' }]);
    // Without `timeoutMs` an unanswered query is sent again after 15 seconds. With it, the only attempt takes all the time.
    const usual = client.query('{ a }');
    const limited = client.query('{ b }', undefined, { timeoutMs: 15_200 });
    // The client first notices the end of the usual query's first attempt, then that of the limited query.
    await market.pass(15);
    await market.pass(0.2);
    expect((await limited).errors).toMatchObject([{ code: 'NETWORK' }]);
    market.network.reach = 'there';
    await market.pass(1);
    await market.answer({ data: { a: 1 } });
    expect(await usual).toEqual({ data: { a: 1 }, errors: [] });
    client.dispose();
    expect(market.network.pending).toBe(0);
  });

  test('fails at once if the platform reports that the device is offline', async () => {
    const { client, market } = fakeClient();
    market.network.isOnline = false;
    const { errors } = await client.query('{ a }');
    expect(errors).toMatchObject([{ code: 'NETWORK', message: 'This device is offline.' }]);
    expect(market.waiting).toEqual([]);
    client.dispose();
  });
});

test.each([408, 425, 429, 502, 503, 504])(
  'a web page with status %d causes a repeat',
  async (status) => {
    const { client, market } = fakeClient();
    const query = client.query('{ a }');
    for (let tries = 0; tries < 4; tries += 1) {
      market.waiting.at(-1)?.text('<html>Later</html>', { status });
      await market.pass(5);
    }
    await market.answer({ data: { a: 1 } });
    expect(await query).toEqual({ data: { a: 1 }, errors: [] });
    client.dispose();
  },
);

test.each([undefined, null, 7, { query: '{ a }' }])(
  'a value that is not an operation is refused and not sent: %j',
  async (operation) => {
    const { client, market } = fakeClient();
    const { errors } = await client.query(operation as never);
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT', retryable: false }]);
    expect(market.waiting).toEqual([]);
    client.dispose();
  },
);

const circle: unknown[] = [];
circle.push(circle);
test.each([{ id: 7n }, { circle }, () => ({})])(
  'variables that JSON cannot write are refused and not sent: %o',
  async (variables) => {
    const { client, market } = fakeClient();
    const { errors } = await client.query<unknown, unknown>('{ a }', variables);
    expect(errors).toMatchObject([
      {
        code: 'BAD_USER_INPUT',
        retryable: false,
        message: expect.stringMatching(/^variables cannot be /),
      },
    ]);
    expect(market.waiting).toEqual([]);
    client.dispose();
  },
);

test.each([
  [{ of: [1, { deep: [Number.NaN] }] }, 'of[1].deep[0]'],
  [{ boxed: new Number(Number.NaN) }, 'boxed'],
  [{ own: { toJSON: () => -1 / 0 } }, 'own'],
])(
  'a number that is not finite is refused by its path, and not sent: %o',
  async (variables, argument) => {
    const { client, market } = fakeClient();
    const { errors } = await client.query<unknown, object>('{ a }', variables);
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT', extensions: { argument } }]);
    expect(market.waiting).toEqual([]);
    client.dispose();
  },
);

test.each([undefined, '', 7])('with %j as the token nothing is sent', async (token) => {
  const { client, market } = fakeClient({ client: { token: () => token as string } });
  expect((await client.query('{ a }')).errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
  expect(market.waiting).toEqual([]);
  client.dispose();
});

test('on a server three requests without a token call `onSignedOut` once', async () => {
  let signOuts = 0;
  const onSignedOut = () => {
    signOuts += 1;
  };
  const { client } = fakeClient({
    client: { token: () => null, onSignedOut, environment: { isServer: true } },
  });
  await Promise.all(['{ a }', '{ b }', '{ c }'].map((query) => client.query(query)));
  expect(signOuts).toBe(1);
  client.dispose();
});

test('the error of a redirected address names the address to use', async () => {
  const http = createServer((request, response) => {
    if (request.url === '/graphql') response.writeHead(301, { location: '/bff/graphql' }).end();
    else response.end('{"errors":[{"message":"`query` is the text of a document."}]}');
  });
  await using server = await listenLocally(http);
  const client = createClient({ url: `${server.url}/graphql`, token: () => 'one' });
  const { errors } = await client.query('{ a }', undefined, { repeats: false });
  expect(errors[0]).toMatchObject({
    code: 'NETWORK',
    message: expect.stringContaining(
      `redirected to ${server.url}/bff/graphql: use that as \`url\``,
    ),
  });
  client.dispose();
});
