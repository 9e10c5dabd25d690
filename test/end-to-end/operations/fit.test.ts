import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { ANSWER_SHAPES } from '../../../src/gateway/interface/answer-shapes.ts';
import { compare } from '../../../src/gateway/interface/compare.ts';
import { learn } from '../../../src/gateway/interface/learn.ts';
import { positionRow } from '../../gateway/wire/rows.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { type Change, startHeldGateway } from '../../support/held-gateway.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { startTestRedis } from '../../support/redis.ts';
import { runCli } from '../../support/run-cli.ts';
import { seriesValue } from './scraped.ts';

type Row = Readonly<Record<string, unknown>>;

const folder = ownFolder();
const DEMO = { email: 'demo@example.com' };
const SCREEN = '{ session(maxAge: 0) { balance equity } positions { id priceCurrent profit } }';
const LOST = {
  operation: 'getOpenPositions',
  fields: ['positions[].priceCurrent', 'positions[].profit'],
};

/** A deploy of the gateway that gives a price another name, and a profit another type. */
const deployed: Change = (body: Row, url) => {
  if (!url.endsWith('/trading/positions') || !Array.isArray(body.positions)) return body;
  const positions = body.positions.map(({ priceCurrent, profit, ...row }) => {
    return { ...row, price_current: priceCurrent, profit: { amount: profit } };
  });
  return { ...body, positions };
};

async function startChanging(options: SandboxOptions = {}) {
  const started = new AsyncDisposableStack();
  const sandbox = started.use(await startSandbox({ seed: 'tests', tickMs: 0, ...options }));
  const front = started.use(await startHeldGateway(sandbox));
  return { sandbox, front, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

const lost = (app: TestApp, loss: string, operation = 'getOpenPositions') =>
  seriesValue(app, `gateway_lost_fields{operation="${operation}",loss="${loss}"}`);

const toldOf = ({ logged }: Pick<TestApp, 'logged'>) =>
  logged
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('the gateway changed'))
    .map(({ operation, fields }) => ({ operation, fields }));

/** Asks until the gateway's answers are compared, and what is awaited is there. */
const asking = (app: TestApp, token: string, awaited: () => unknown) =>
  eventually(async () => {
    expect((await app.query(SCREEN, { token })).errors).toEqual([]);
    await awaited();
  });

test('fields that a deploy of the gateway renames or retypes are told once, until they are back', async () => {
  await using gateway = await startChanging();
  const { sandbox, front } = gateway;
  const environment = { GATEWAY_URL: front.url };
  await using app = await startTestApp(environment, { gateway: sandbox, fitMs: 1 });
  const token = sandbox.token(DEMO);
  for (let reads = 0; reads < 3; reads += 1) await app.query(SCREEN, { token });
  front.change(deployed);
  await asking(app, token, async () => expect(await lost(app, 'vital')).toBe(1));
  expect(await lost(app, 'other')).toBe(1);
  // Nobody else is told of, and nothing twice.
  expect([await lost(app, 'vital', 'getSession'), await lost(app, 'other', 'getSession')]).toEqual([
    0, 0,
  ]);
  for (let reads = 0; reads < 3; reads += 1) await app.query(SCREEN, { token });
  expect(toldOf(app)).toEqual([LOST]);
  front.change((body) => body);
  await asking(app, token, async () => expect(await lost(app, 'vital')).toBe(0));
  expect(app.logged.filter((line) => line.includes('have what they had before'))).toHaveLength(1);
});

/** A process learns what the answers have, until that is stored; after a deploy another one of the same store tells what is lost. */
async function hidesNoLoss(
  { sandbox, front }: Awaited<ReturnType<typeof startChanging>>,
  environment: Environment,
  isStored: () => Promise<unknown>,
) {
  const token = sandbox.token(DEMO);
  const start = (more: Environment) =>
    startTestApp({ GATEWAY_URL: front.url, ...more }, { gateway: sandbox, fitMs: 1 });
  await using before = await start(environment);
  await asking(before, token, isStored);
  expect(toldOf(before)).toEqual([]);
  front.change(deployed);
  await using after = await start(environment);
  await asking(after, token, () => expect(toldOf(after)).toEqual([LOST]));
  // To one that never saw these fields they are no loss.
  await using stranger = await start({});
  for (let reads = 0; reads < 5; reads += 1) await stranger.query(SCREEN, { token });
  expect([toldOf(stranger), await lost(stranger, 'vital')]).toEqual([[], 0]);
}

test('a restart hides no loss: beside the order file it is kept what the answers had', async () => {
  await using gateway = await startChanging();
  const path = join(folder.path, 'orders.db');
  const isStored = () => access(join(`${path}.baseline`, 'getOpenPositions.json'));
  await hidesNoLoss(gateway, { ORDER_STORE: path }, isStored);
});

describeWithRedis('a replica that shares a Redis', (serverPath) => {
  test('hides no loss of what another has learned', async () => {
    await using redis = await startTestRedis(serverPath);
    await using gateway = await startChanging();
    const key = 'trading-graph:gateway-baseline';
    await hidesNoLoss(gateway, { REDIS_URL: redis.url }, async () =>
      expect(await redis.command('HEXISTS', key, 'getOpenPositions')).toBe(1),
    );
  });
});

test('`check --baseline` keeps what the answers have, so that a first start tells a loss, and accepts one', async () => {
  await using gateway = await startChanging();
  const { sandbox, front } = gateway;
  const token = sandbox.token(DEMO);
  const environment = { GATEWAY_URL: front.url, ORDER_STORE: join(folder.path, 'new.db') };
  const checked = () =>
    runCli(['check', '--baseline'], {
      ...environment,
      CHECK_TOKEN: token,
      PORT: '0',
      ADMIN_PORT: '0',
    });
  expect((await checked()).code).toBe(0);
  front.change(deployed);
  await using app = await startTestApp(environment, { gateway: sandbox, fitMs: 1 });
  await asking(app, token, () => expect(toldOf(app)).toEqual([LOST]));
  expect(await lost(app, 'vital')).toBe(1);
  await checked();
  await asking(app, token, async () => expect(await lost(app, 'vital')).toBe(0));
});

test('of orders a rejection lacks no number, and an envelope around their answers loses what pages', async () => {
  await using gateway = await startChanging();
  const { sandbox, front } = gateway;
  await using app = await startTestApp({ GATEWAY_URL: front.url }, { gateway: sandbox, fitMs: 1 });
  const token = sandbox.token(DEMO);
  const buy = async (key: string) => {
    const { data } = await app.query(buying(key, '__typename'), { token });
    return data.placeOrder.__typename;
  };
  const isOrder = (url: string) => url.endsWith('/trading/positions');
  for (const key of ['a', 'b', 'c']) expect(await buy(key)).toBe('OrderAccepted');
  front.change((body: Row, url) =>
    isOrder(url) && 'success' in body ? { success: false, err: 'CLOSED', message: 'no' } : body,
  );
  for (const key of ['d', 'e', 'f']) expect(await buy(key)).toBe('OrderRejected');
  front.change((body: Row, url) => (isOrder(url) && 'success' in body ? {} : body));
  for (const key of ['g', 'h', 'i']) expect(await buy(key)).toBe('OrderOutcomeUnknown');
  expect(await lost(app, 'vital', 'openPosition')).toBe(0);
  front.change((body: Row, url) => (isOrder(url) && 'success' in body ? { data: body } : body));
  expect(await buy('j')).toBe('OrderOutcomeUnknown');
  await eventually(async () => expect(await lost(app, 'vital', 'openPosition')).toBe(1));
  expect(toldOf(app)).toEqual([{ operation: 'openPosition', fields: ['success'] }]);
});

test('of answers that are too long to be parsed for this the first rows are compared', async () => {
  await using gateway = await startChanging({ instruments: 2_000 });
  const { sandbox, front } = gateway;
  await using app = await startTestApp({ GATEWAY_URL: front.url }, { gateway: sandbox, fitMs: 1 });
  const many = (body: Row) =>
    Array.isArray(body.positions) && body.login === undefined
      ? { positions: Array.from({ length: 2_000 }, (_, at) => ({ ...positionRow, id: `p-${at}` })) }
      : body;
  front.change(many);
  const token = sandbox.token(DEMO);
  const stored = async () => expect(await lost(app, 'other', 'getAllTickers')).toBe(0);
  await app.query('{ catalog { id } }', { token });
  for (let reads = 0; reads < 3; reads += 1) await asking(app, token, stored);
  front.change((body: Row, url) => {
    if (!url.includes('/tickers/')) return deployed(many(body) as never, url, 200);
    return Array.isArray(body) ? body.map(({ friendlyName, ...row }) => row) : body;
  });
  await asking(app, token, async () => expect(await lost(app, 'vital')).toBe(1));
  // The catalog of another group is asked for.
  await app.query('{ catalog { id } }', { token: sandbox.token({ email: 'pro@example.com' }) });
  await eventually(async () => expect(await lost(app, 'other', 'getAllTickers')).toBe(1));
});

/** Rows of op 12 by what has become of a comment: `x` a text, `n` null, `-` missing, `7` a number. */
const rowsOf = (letters: string) =>
  [...letters].map((letter) => {
    const { comment: _, ...row } = positionRow;
    const values: Record<string, unknown> = { x: 'a', n: null, 7: 7 };
    return letter === '-' ? row : { ...row, comment: values[letter] };
  });

test.each<[string, readonly string[], boolean]>([
  ['is missing from every row', ['xx', '--'], true],
  ['has another type in every row', ['xx', '77'], true],
  ['has another type, or is missing, in every row', ['x-', '7-'], true],
  ['is still in some rows', ['xx', 'x-7'], false],
  ['some rows lacked before', ['x-', 'x', '-'], false],
  ['was never there', ['--', '--'], false],
  ['is not seen for want of rows', ['xx', ''], false],
  ['is null for once', ['xx', 'n'], false],
  ['is null, and never was in many answers', [...Array(20).fill('x'), 'nn'], true],
  ['is null, or missing, and was null at times', [...Array(20).fill('xn'), 'nn', 'n-'], false],
])('a field that %s, after the answers %j, is lost: %s', (_, answers, isLost) => {
  let found = learn({}, []);
  for (const letters of answers) {
    const body = { positions: rowsOf(letters) };
    found = learn(found.known, compare(ANSWER_SHAPES.getOpenPositions, body, 0).fields);
  }
  expect(found.lost).toEqual(isLost ? ['positions[].comment'] : []);
});
