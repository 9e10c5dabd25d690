import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';

const screen = useSignedInApp();

describe('a query', () => {
  test('makes each read at most once, whatever it repeats', async () => {
    const more = Array.from(
      { length: 5 },
      (_, i) =>
        `s${i}: session { login } p${i}: positions { id instrument { positions { id } orders { id } } }
        c${i}: customerId w${i}: withdrawalMethods { id } i${i}: instrument(id: "AAPL") { id }`,
    ).join('\n');
    await screen.read(
      `{ ${more} orders { id } position(id: "1") { id } order(id: "1") { id } catalog { id } }`,
    );
    expect(screen.app.sandbox.callCounts().operations).toEqual({
      getSession: 1,
      getOpenPositions: 1,
      getCustomerId: 1,
      getWithdrawalMethods: 1,
      ...(screen.calls('getAllTickers') > 0 && { getAllTickers: 1 }),
    });
  });

  test('makes its reads concurrently', async () => {
    const clock = createScriptedClock(Date.now());
    await using gateway = await startSandbox({ clock, tickMs: 0 });
    await using app = await startTestApp({}, { gateway });
    gateway.fail({ operation: '*', kind: 'delay', delayMs: 1_000 });
    const token = gateway.token({ email: 'demo@example.com' });
    const text = '{ session { login } positions { id } withdrawalMethods { id } customerId }';
    const answer = app.query(text, { token });
    // The last is sent before the first is answered.
    await eventually(() => gateway.requests().length === 4);
    await clock.advance(1_000);
    expect((await answer).errors).toEqual([]);
  });

  test('aborts its reads when the client disconnects', async () => {
    screen.app.sandbox.fail({ operation: 'getCustomerId', kind: 'hang' });
    const client = new AbortController();
    const asked = fetch(`${screen.app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${screen.token}` },
      body: JSON.stringify({ query: '{ customerId }' }),
      signal: client.signal,
    });
    await eventually(() => screen.calls('getCustomerId') === 1);
    const lines = screen.app.logged.length;
    client.abort();
    await expect(asked).rejects.toThrow();
    // Before the call's own deadline: it is logged as aborted by the client, not as timed out.
    await eventually(() =>
      screen.app.logged.slice(lines).some((line) => line.includes('getCustomerId')),
    );
  });
});

describe('a mutation', () => {
  const login = (alias: string) =>
    `${alias}: login(input: { email: "demo@example.com", password: "demo" }) {
      ... on LoginSuccess { session { fetchedAt } catalog { group } }
    }`;

  test('reads with the token that a login has just given', async () => {
    const { data, errors } = await screen.app.query(`mutation { ${login('mine')} }`, {
      token: screen.app.sandbox.token({ email: 'pro@example.com' }),
    });
    expect(errors).toEqual([]);
    expect(data.mine.catalog).toEqual({ group: 'standard-usd' });
    expect(screen.app.sandbox.callCounts().logins).toMatchObject({ '700001': { getSession: 1 } });
    expect(screen.app.sandbox.callCounts().logins).not.toHaveProperty('700002');
  });

  test('answers a login even where its reads fail', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
    const { data, errors } = await screen.app.query(
      `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
        ... on LoginSuccess { accessToken session { login } }
      } }`,
    );
    expect(data.login).toEqual({ accessToken: expect.any(String), session: null });
    expect(errors).toMatchObject([
      { path: ['login', 'session'], extensions: { code: 'FORBIDDEN', operation: 'getSession' } },
    ]);
  });

  test('carries its writes out one after the other', async () => {
    screen.app.sandbox.fail({ operation: 'setValue', kind: 'delay', delayMs: 40 });
    const names = ['a', 'b', 'c'];
    const writes = names.map((key) => `${key}: setValue(input: { key: "${key}" }) { __typename }`);
    await screen.read(`mutation { ${writes.join(' ')} }`);
    const seen = screen.app.sandbox.requests('setValue');
    expect(seen.map(({ path }) => path.at(-1))).toEqual(names);
    const [a, b, c] = seen.map(({ atMs }) => atMs);
    expect((b ?? 0) - (a ?? 0)).toBeGreaterThanOrEqual(39);
    expect((c ?? 0) - (b ?? 0)).toBeGreaterThanOrEqual(39);
  });
});
