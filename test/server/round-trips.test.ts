import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OperationName } from '../../src/gateway/operations.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

let app: TestApp;
let token: string;

beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(() => {
  // A token of its own for each test: nothing is held for it.
  token = app.sandbox.token({ email: 'demo@example.com' });
  app.sandbox.clearCalls();
});
afterEach(() => app.sandbox.clearFaults());
afterAll(() => app.close());

const calls = (operation: OperationName) => app.sandbox.calls(operation);
const read = async (document: string) => {
  const answer = await app.query(document, { token });
  expect(answer.errors).toEqual([]);
  return answer.data;
};

describe('a query', () => {
  test('makes each read at most once, whatever it repeats', async () => {
    const more = Array.from(
      { length: 5 },
      (_, i) =>
        `s${i}: session { login } p${i}: positions { id instrument { positions { id } orders { id } } }
        c${i}: customerId w${i}: withdrawalMethods { id } i${i}: instrument(id: "AAPL") { id }`,
    ).join('\n');
    await read(
      `{ ${more} orders { id } position(id: "1") { id } order(id: "1") { id } catalog { id } }`,
    );
    expect(app.sandbox.callCounts().operations).toEqual({
      getSession: 1,
      getOpenPositions: 1,
      getCustomerId: 1,
      getWithdrawalMethods: 1,
      ...(calls('getAllTickers') > 0 && { getAllTickers: 1 }),
    });
  });

  test('makes its reads at the same time', async () => {
    const delayMs = 300;
    app.sandbox.fail({ operation: '*', kind: 'delay', delayMs });
    await read('{ session { login } positions { id } withdrawalMethods { id } customerId }');
    const sentAtMs = app.sandbox.requests().map(({ atMs }) => atMs);
    expect(sentAtMs).toHaveLength(4);
    // The last was sent before the first was answered.
    expect(Math.max(...sentAtMs) - Math.min(...sentAtMs)).toBeLessThan(delayMs);
  });

  test('that nobody waits for any more ends its reads', async () => {
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'hang' });
    const gone = new AbortController();
    const asked = fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: '{ customerId }' }),
      signal: gone.signal,
    });
    await eventually(() => calls('getCustomerId') === 1);
    const lines = app.logged.length;
    gone.abort();
    await expect(asked).rejects.toThrow();
    // Long before the gateway's own deadline.
    await eventually(() => app.logged.slice(lines).some((line) => line.includes('getCustomerId')), {
      withinMs: 2_000,
    });
  });
});

describe('a mutation', () => {
  const login = (alias: string) =>
    `${alias}: login(input: { email: "demo@example.com", password: "demo" }) {
      ... on LoginSuccess { session { fetchedAt } catalog { group } }
    }`;

  test('reads with the token that a login has just given', async () => {
    const { data, errors } = await app.query(`mutation { ${login('mine')} }`, {
      token: app.sandbox.token({ email: 'pro@example.com' }),
    });
    expect(errors).toEqual([]);
    expect(data.mine.catalog).toEqual({ group: 'standard-usd' });
    expect(app.sandbox.callCounts().logins).toMatchObject({ '700001': { getSession: 1 } });
    expect(app.sandbox.callCounts().logins).not.toHaveProperty('700002');
  });

  test('shows a login whose reads fail all the same', async () => {
    app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
    const { data, errors } = await app.query(
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
    app.sandbox.fail({ operation: 'setValue', kind: 'delay', delayMs: 40 });
    const names = ['a', 'b', 'c'];
    const writes = names.map((key) => `${key}: setValue(input: { key: "${key}" }) { __typename }`);
    await read(`mutation { ${writes.join(' ')} }`);
    const seen = app.sandbox.requests('setValue');
    expect(seen.map(({ path }) => path.at(-1))).toEqual(names);
    const [a, b, c] = seen.map(({ atMs }) => atMs);
    expect((b ?? 0) - (a ?? 0)).toBeGreaterThanOrEqual(39);
    expect((c ?? 0) - (b ?? 0)).toBeGreaterThanOrEqual(39);
  });
});
