import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import type { TypedText } from '../../src/operation.ts';
import { startCore } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const BALANCE: TypedText<{ session: { balance: number } | null }, undefined> =
  '{ session { balance } }';
const HURRIED = () => countedEnvironment({ hurry: (ms) => (ms < 30_000 ? 0 : ms) });

const app = ownApp();

describe('a query', () => {
  test('is answered with its data, and leaves nothing behind', async () => {
    using core = startCore(app);
    const { data, errors } = await core.request(BALANCE, undefined);
    expect(errors).toEqual([]);
    expect(data?.session?.balance).toBeTypeOf('number');
    core.dispose();
    expect(core.countedEnvironment.timers.size).toBe(0);
  });

  test('keeps the data beside the errors, and names the request', async () => {
    using core = startCore(app, { environment: HURRIED() });
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
  });

  test('is repeated while nothing of it can be had, a bounded number of times', async () => {
    using core = startCore(app, { environment: HURRIED() });
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500 });
    const failed = await core.request('{ positions { id } }', undefined);
    expect(failed.errors).toMatchObject([{ code: 'GATEWAY_UNAVAILABLE' }]);
    const pauses = core.countedEnvironment.pauses.filter((ms) => ms < 30_000);
    expect(pauses).toHaveLength(4);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(8_000);
  });

  test('waits at least as long as the server asks', async () => {
    await using impatient = await startTestApp({ GATEWAY_TIMEOUT_MS: '10000' });
    using core = startCore(impatient, { environment: HURRIED() });
    impatient.sandbox.fail({
      operation: 'getOpenPositions',
      kind: 'status',
      status: 429,
      // Longer than the server itself waits for the gateway.
      headers: { 'retry-after': '20' },
    });
    await core.request('{ positions { id } }', undefined);
    const pauses = core.countedEnvironment.pauses.filter((ms) => ms < 30_000);
    expect(pauses.length).toBeGreaterThan(0);
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(20_000);
  });

  test('fails with NETWORK where there is no server, and with ABORTED when it is given up', async () => {
    using core = startCore(app, { url: 'http://127.0.0.1:9/graphql', environment: HURRIED() });
    const { errors } = await core.request(BALANCE, undefined);
    expect(errors).toMatchObject([{ code: 'NETWORK', retryable: true }]);
    using slow = startCore(app);
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 5_000 });
    const abort = new AbortController();
    const request = slow.request('{ positions { id } }', undefined, { signal: abort.signal });
    abort.abort();
    expect((await request).errors).toMatchObject([{ code: 'ABORTED' }]);
  });

  test('ends with DISPOSED', async () => {
    const core = startCore(app);
    const request = core.request(BALANCE, undefined);
    core.dispose();
    expect((await request).errors).toMatchObject([{ code: 'DISPOSED' }]);
    expect((await core.request(BALANCE, undefined)).errors).toMatchObject([{ code: 'DISPOSED' }]);
    expect(core.countedEnvironment.timers.size).toBe(0);
  });
});

describe('a token', () => {
  test('is renewed once for all requests that it fails, and they are sent again', async () => {
    const good = app.sandbox.token({ email: 'demo@example.com' });
    const asked: boolean[] = [];
    using core = startCore(app, {
      token: ({ force }) => {
        asked.push(force);
        return force ? good : 'stale';
      },
    });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => core.request(BALANCE, undefined)),
    );
    for (const { errors } of answers) expect(errors).toEqual([]);
    expect(asked.filter((force) => force)).toHaveLength(1);
  });

  test('that is refused after its renewal signs out, once, and a later one starts again', async () => {
    let token = 'stale';
    let renewals = 0;
    const signedOut: string[] = [];
    using core = startCore(app, {
      token: ({ force }) => {
        if (force) renewals += 1;
        return force ? `${token}er` : token;
      },
      onSignedOut: ({ code }) => void signedOut.push(code),
    });
    const changes: number[] = [];
    core.onAccountChange(() => void changes.push(1));
    const answers = await Promise.all([1, 2, 3].map(() => core.request(BALANCE, undefined)));
    for (const { errors } of answers) expect(errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
    // Within the cool-down nobody is asked for another token.
    await core.request(BALANCE, undefined);
    await core.request(BALANCE, undefined);
    expect(renewals).toBeLessThanOrEqual(2);
    expect(signedOut).toEqual(['SIGNED_OUT']);
    expect(changes).toHaveLength(1);
    token = app.sandbox.token({ email: 'demo@example.com' });
    expect((await core.request(BALANCE, undefined)).errors).toEqual([]);
  });

  test.each([
    ['undefined', undefined],
    ['a number', 7 as unknown as string],
  ])('that is %s is none', async (_name, token) => {
    let fetches = 0;
    const counted: typeof fetch = (...args) => {
      fetches += 1;
      return fetch(...args);
    };
    using core = startCore(app, {
      token: () => token,
      environment: countedEnvironment({ fetch: counted }),
    });
    const { errors } = await core.request(BALANCE, undefined);
    expect(errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
    expect(fetches).toBe(0);
  });

  test('that is null fails what waits for it', async () => {
    const signedOut: string[] = [];
    using core = startCore(app, {
      token: async () => null,
      onSignedOut: ({ code }) => void signedOut.push(code),
    });
    expect((await core.request(BALANCE, undefined)).errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
    await expect(core.account()).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(signedOut).toEqual(['SIGNED_OUT']);
    const open = await core.request('{ __typename }', undefined, { anonymous: true });
    expect(open.data).toEqual({ __typename: 'Query' });
  });

  test('tells the account, and that another one is signed in', async () => {
    let email = 'demo@example.com';
    using core = startCore(app, { token: () => app.sandbox.token({ email }) });
    let changes = 0;
    core.onAccountChange(() => {
      changes += 1;
    });
    // The first one that becomes known is no other.
    const first = await core.account();
    expect(first).toBe('700001');
    // A new token of the same account is no change.
    expect(await core.account()).toBe(first);
    expect(changes).toBe(0);
    email = 'pro@example.com';
    await core.tokenChanged();
    await eventually(() => changes === 1);
    expect(await core.account()).not.toBe(first);
    const unsent = await core.request(BALANCE, undefined, { account: first });
    expect(unsent.errors).toMatchObject([{ code: 'SIGNED_OUT' }]);
  });
});

test('another account that signs in before the first one is known is a change for those who listen', async () => {
  const first = app.sandbox.token({ email: 'demo@example.com' });
  const second = app.sandbox.token({ email: 'pro@example.com' });
  let token = first;
  const asked = Promise.withResolvers<void>();
  const environment = countedEnvironment({
    // The first question never gets an answer.
    fetch(input, init) {
      if (new Headers(init?.headers).get('authorization') !== `Bearer ${first}`)
        return fetch(input, init);
      asked.resolve();
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  });
  using core = startCore(app, { environment, token: () => token });
  let changes = 0;
  core.onAccountChange(() => {
    changes += 1;
  });
  core.account().catch(() => {});
  await asked.promise;
  token = second;
  await core.tokenChanged();
  expect(await core.account()).toBe('700002');
  expect(changes).toBe(1);
});

test('a server that does not answer is asked for the account a few times, not for ever', async () => {
  let asked = 0;
  const environment = countedEnvironment({
    hurry: (ms) => (ms < 10_000 ? 0 : ms),
    fetch: async () => {
      asked += 1;
      throw new TypeError('the connection was lost');
    },
  });
  using core = startCore(app, { environment });
  await expect(core.account()).rejects.toMatchObject({ code: 'NETWORK' });
  expect(asked).toBe(3);
});
