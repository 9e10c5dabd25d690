import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
const token = () => app.sandbox.token({ email: 'demo@example.com' });

/** The data of an answer without errors. */
async function read(document: string, variables: Record<string, unknown> = {}) {
  const answer = await app.query(document, { token: token(), variables });
  expect(answer.errors).toEqual([]);
  expect(answer.status).toBe(200);
  return answer.data;
}

const HOLDING = `id symbol side name logo delayed sharia digits units priceOpen priceCurrent createdAt
  updatedAt leverage rateMargin stopLoss takeProfit comment invested`;
const POSITION = `${HOLDING} rateProfit storage profit`;
const ORDER = `${HOLDING} kind state useMargin`;

/** The paths of all nulls in an answer. */
function nullsIn(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, each]) => nullsIn(each, `${path}/${name}`));
}

test('session has every field of the gateway’s snapshot', async () => {
  const { session } = await read(`{ session {
    id login group server currency balance credit equity storage assets prevEquity prevBalance
    leverage invested profits kycStatus createdAt fetchedAt
    access { id name currency currencyDigits isHedged noPl }
    positions { ${POSITION} } orders { ${ORDER} }
  } }`);
  expect(nullsIn(session)).toEqual([]);
  expect(session).toMatchObject({
    id: '700001',
    login: '700001',
    group: 'standard-usd',
    currency: 'USD',
    balance: 50_000,
    credit: 500,
    kycStatus: 'APPROVED',
    createdAt: expect.stringMatching(/^20\d\d-/),
    fetchedAt: expect.stringMatching(/^20\d\d-/),
    access: { currency: 'USD', currencyDigits: 2 },
  });
  expect([session.positions.length, session.orders.length]).toEqual([6, 3]);
});

test('positionTotals are sums over the positions of the same read', async () => {
  app.sandbox.clearCalls();
  const { positions, positionTotals } = await read(
    '{ positions { profit invested } positionTotals { count invested profit } }',
  );
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
  const total = (figure: 'profit' | 'invested') =>
    positions.reduce((sum: number, row: Record<string, number>) => sum + (row[figure] ?? 0), 0);
  expect(positionTotals).toEqual({
    count: 6,
    invested: expect.closeTo(total('invested'), 6),
    profit: expect.closeTo(total('profit'), 6),
  });
});

describe.each([
  ['positions', 'position', POSITION, 6],
  ['orders', 'order', ORDER, 3],
])('%s', (list, one, fields, count) => {
  test('have every field, and can be found by id', async () => {
    const { [list]: rows } = await read(`{ ${list} { ${fields} } }`);
    expect(rows).toHaveLength(count);
    expect(nullsIn(rows)).toEqual([]);
    const document = `query ($id: ID!) { ${one}(id: $id) { id symbol } other: ${one}(id: "0") { id } }`;
    const { id, symbol } = rows[2];
    expect(await read(document, { id })).toEqual({ [one]: { id, symbol }, other: null });
  });
});

describe('instruments', () => {
  test('can be found by id, with every field of the gateway', async () => {
    const { instrument } = await read(`{ instrument(id: "AAPL") {
      id symbol name description logo delayed sharia shariaStatus leverage pdt digits session quotes
      tradingHours { timezone regular preMarket postMarket overnight otherExtended }
      sector industry mode calc swap { long short mode tick } min max step limit
      mCurrency pCurrency mFx pFx access
    } }`);
    // These name instruments that convert currencies, which AAPL does not need.
    expect(nullsIn(instrument)).toEqual(['/mFx', '/pFx']);
    expect(instrument).toMatchObject({
      id: 'AAPL',
      symbol: 'AAPL',
      name: 'Apple Inc.',
      leverage: 5,
      digits: 2,
      mCurrency: 'USD',
      pCurrency: 'USD',
    });
  });

  test('can be found by up to 500 ids, in the order of the ids', async () => {
    const document = 'query ($ids: [ID!]!) { instrumentsByIds(ids: $ids) { id } }';
    const ids = ['TSLA', 'NOBODY.KNOWS', 'AAPL', 'TSLA'];
    const { instrumentsByIds } = await read(document, { ids });
    expect(instrumentsByIds).toEqual([{ id: 'TSLA' }, null, { id: 'AAPL' }, { id: 'TSLA' }]);
    const variables = (count: number) => ({ ids: new Array(count).fill('AAPL') });
    expect((await read(document, variables(500))).instrumentsByIds).toHaveLength(500);
    const tooMany = { token: token(), variables: variables(501) };
    const { data, errors } = await app.query(document, tooMany);
    expect(data).toEqual({ instrumentsByIds: null });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'ids' });
  });

  test('have the viewer’s positions and orders in them', async () => {
    const { positions, orders } = await read('{ positions { id symbol } orders { id symbol } }');
    const ids = `positions { id } orders { id }`;
    const data = await read(
      `query ($held: ID!, $ordered: ID!) {
        held: instrument(id: $held) { ${ids} }
        ordered: instrument(id: $ordered) { ${ids} }
      }`,
      { held: positions[0].symbol, ordered: orders[0].symbol },
    );
    expect(data.held.positions).toContainEqual({ id: positions[0].id });
    expect(data.ordered.orders).toContainEqual({ id: orders[0].id });
  });
});

test('the catalog has its group, age and size', async () => {
  const { catalog } = await read(
    '{ catalog { id group version fetchedAt expiresAt ageSeconds stale size skipped } }',
  );
  expect(nullsIn(catalog)).toEqual([]);
  expect(catalog).toMatchObject({
    id: 'standard-usd',
    group: 'standard-usd',
    stale: false,
    skipped: 0,
    fetchedAt: expect.stringMatching(/^20\d\d-/),
    expiresAt: expect.stringMatching(/^20\d\d-/),
  });
  expect(catalog.size).toBeGreaterThanOrEqual(500);
});

test.each(
  READ_NAMES.map((name) => OPERATION_CASES[name]).filter(({ shows }) => shows !== undefined),
)('$field has every field of the gateway', async ({ document, field, shows }) => {
  const data = await read(document);
  expect(nullsIn(data)).toEqual([]);
  expect(data).toMatchObject({ [field]: shows });
});

describe('a query', () => {
  test('makes each gateway call at most once, however often its data is selected', async () => {
    const repeated = Array.from(
      { length: 5 },
      (_, i) =>
        `s${i}: session { login } p${i}: positions { id instrument { positions { id } orders { id } } }
        c${i}: customerId w${i}: withdrawalMethods { id } i${i}: instrument(id: "AAPL") { id }`,
    ).join('\n');
    await using own = await startTestApp();
    const { errors } = await own.query(
      `{ ${repeated} orders { id } position(id: "1") { id } order(id: "1") { id } catalog { id } }`,
      { token: own.sandbox.token({ email: 'demo@example.com' }) },
    );
    expect(errors).toEqual([]);
    expect(own.sandbox.callCounts().operations).toEqual({
      getSession: 1,
      getOpenPositions: 1,
      getCustomerId: 1,
      getWithdrawalMethods: 1,
      getAllTickers: 1,
    });
  });

  test('makes its gateway calls concurrently', async () => {
    const clock = createScriptedClock(Date.now());
    await using gateway = await startSandbox({ clock, tickMs: 0 });
    await using app = await startTestApp({}, { gateway });
    gateway.fail({ operation: '*', kind: 'delay', delayMs: 1_000 });
    const token = gateway.token({ email: 'demo@example.com' });
    const text = '{ session { login } positions { id } withdrawalMethods { id } customerId }';
    const answer = app.query(text, { token });
    // All four calls are sent before the clock moves, and so before any of them is answered.
    await eventually(() => expect(gateway.requests()).toHaveLength(4));
    await clock.advance(1_000);
    expect((await answer).errors).toEqual([]);
  });
});

test('README’s first query is answered as printed there, apart from times', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const query = /```graphql\n(.*?)```/s.exec(readme)?.[1] ?? '';
  const shown = JSON.parse(/```json\n(.*?)```/s.exec(readme)?.[1] ?? '');
  await using app = await startTestApp({ SANDBOX_SEED: '1' });
  const token = await app.signIn();
  // In README.md the catalog and the session come from the cache.
  await app.query('{ session { id } instrument(id: "AAPL") { id } }', { token });
  const { data, errors, extensions } = await app.query(query, { token });
  expect(errors).toEqual([]);
  // README.md shows only the first position.
  expect(data).toEqual({
    ...shown.data,
    positions: [...shown.data.positions, ...data.positions.slice(1)],
  });
  expect(data.positions).toHaveLength(6);
  const withoutTimes = (calls: readonly { operation: string; source: string }[]) =>
    calls.map(({ operation, source }) => `${operation} ${source}`).sort();
  const { gateway, ...counts } = extensions;
  const { gateway: shownCalls, ...shownCounts } = shown.extensions;
  expect(withoutTimes(gateway)).toEqual(withoutTimes(shownCalls));
  expect(counts).toEqual(shownCounts);
});
