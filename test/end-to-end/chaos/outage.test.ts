import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
const DEADLINE_MS = 2_000;
const PROBE_EVERY_MS = 5_000;
const WATCHED_MS = 11_000;
// Six seconds, and slack for a busy machine.
const RECOVERS_WITHIN_MS = 6_000 + 3_000;
const SCREEN = '{ session(maxAge: 0) { balance } positions { id } customerId }';
const READS = ['getSession', 'getOpenPositions', 'getCustomerId'] as const;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'outage', instruments: 50, tickMs: 0 });
});
afterAll(() => sandbox.close());

function startFacade(url: string): Promise<TestApp> {
  const environment = {
    GATEWAY_URL: url,
    GATEWAY_TIMEOUT_MS: String(DEADLINE_MS),
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  return startTestApp(environment, { gateway: sandbox });
}

test('a gateway that is down receives only a probe per 5 s, and serves again within 6 s', async () => {
  await using proxy = await startFaultProxy(sandbox.url);
  await using app = await startFacade(proxy.url);
  const tokens = EMAILS.map((email) => sandbox.token({ email }));
  let screens = 0;
  const show = async () => {
    const token = tokens[screens % tokens.length] as string;
    screens += 1;
    return app.query(SCREEN, { token });
  };
  proxy.fail('*', { kind: 'reset-before' });
  for (let round = 0; round < 20; round += 1) await Promise.all([show(), show(), show()]);
  const openedAt = performance.now();
  const before = proxy.arrived();
  while (performance.now() - openedAt < WATCHED_MS) {
    for (const { errors } of await Promise.all([show(), show(), show()])) {
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(
        READS.map(() => 'GATEWAY_UNAVAILABLE'),
      );
    }
    await delay(25);
  }
  // The requests need two backends, each with a breaker of its own.
  const probes = proxy.arrived() - before;
  const watchedMs = performance.now() - openedAt;
  expect(probes).toBeLessThanOrEqual(2 * Math.ceil(watchedMs / PROBE_EVERY_MS));
  expect(probes).toBeGreaterThanOrEqual(2);
  for (const operation of READS) {
    expect(proxy.arrived(operation) / screens, operation).toBeLessThanOrEqual(1.1);
  }

  await proxy.heal();
  const healedAt = performance.now();
  while ((await show()).errors.length > 0) {
    expect(performance.now() - healedAt).toBeLessThan(RECOVERS_WITHIN_MS);
    await delay(25);
  }
}, 120_000);

describe('while payments are down', () => {
  const MUCH_LESS_THAN_THE_DEADLINE_MS = DEADLINE_MS / 2;

  test('reads and orders are as fast as with payments up', async () => {
    const alive = await traffic({ isDead: false });
    const dead = await traffic({ isDead: true });
    expect(alive).toMatchObject({ payments: ['data'], reads: ['data'] });
    expect(dead).toMatchObject({ reads: alive.reads, orders: alive.orders, placed: alive.placed });
    // Timeouts first, then immediate errors of the open breaker; never an answer.
    expect(dead.payments).toEqual(['GATEWAY_TIMEOUT', 'GATEWAY_UNAVAILABLE']);
    for (const { usualMs } of [alive, dead]) {
      expect(usualMs).toBeLessThan(MUCH_LESS_THAN_THE_DEADLINE_MS);
    }
  }, 120_000);
});

/** Sends the same requests each time; returns outcomes, the number of orders and the median time of the others. */
async function traffic({ isDead }: { isDead: boolean }) {
  await using proxy = await startFaultProxy(sandbox.url);
  await using app = await startFacade(proxy.url);
  sandbox.reset();
  if (isDead) {
    proxy.fail('getCustomerId', { kind: 'half-open' });
    proxy.fail('getWithdrawalMethods', { kind: 'half-open' });
  }
  const tokens = EMAILS.map((email) => sandbox.token({ email }));
  const payments = new Set<string>();
  const reads = new Set<string>();
  const orders = new Set<string>();
  const tookMs: number[] = [];
  const ask = async (token: string, document: string, said: Set<string>, isTimed = true) => {
    const startedAt = performance.now();
    const { data, errors } = await app.query(document, { token });
    const [value] = Object.values(data ?? {}) as [{ __typename?: string } | null];
    said.add(errors[0]?.extensions.code ?? value?.__typename ?? 'data');
    if (isTimed) tookMs.push(performance.now() - startedAt);
  };
  const asking: Promise<void>[] = [];
  // Lasts until well after the first of them have timed out.
  for (let round = 0; round < 30; round += 1) {
    for (const token of tokens) {
      // The requests to payments are not awaited here: the others must not wait for them.
      asking.push(ask(token, '{ customerId }', payments, false));
      asking.push(ask(token, '{ withdrawalMethods { id } }', payments, false));
      await ask(token, '{ positions { id } }', reads);
      await ask(token, '{ session(maxAge: 0) { balance } }', reads);
      await ask(token, placeOrder(`round ${round}`), orders);
    }
    await delay(100);
  }
  await Promise.all(asking);
  return {
    payments: [...payments].sort(),
    reads: [...reads],
    orders: [...orders],
    placed: sandbox.orders().length,
    usualMs: tookMs.sort((one, other) => one - other)[tookMs.length / 2],
  };
}

function placeOrder(key: string): string {
  return `mutation { placeOrder(input: {
    symbol: "AAPL", side: BUY, size: { amount: 20 }, idempotencyKey: "${key}"
  }) { __typename } }`;
}
