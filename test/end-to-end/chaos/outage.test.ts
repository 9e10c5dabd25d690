import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { stepUntil } from '../../support/steps.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'outage', instruments: 50, tickMs: 0 });
});
afterAll(() => sandbox.close());

function startFacade(url: string, deadline: Environment = {}): Promise<TestApp> {
  const environment = { GATEWAY_URL: url, RATE_LIMIT_PER_MINUTE: '1000000', ...deadline };
  return startTestApp(environment, { gateway: sandbox });
}

describe('while payments are down', () => {
  test('reads and orders are answered as with payments up', async () => {
    const alive = await traffic({ isDead: false });
    expect(alive).toMatchObject({ payments: ['data'], reads: ['data'] });
    const dead = await traffic({ isDead: true });
    // All others were answered while the first of the payments still waited.
    expect(dead).toEqual({ ...alive, payments: [] });
  }, 300_000);

  test('payments time out, and are refused at once after some of that', async () => {
    await using proxy = await startFaultProxy(sandbox.url);
    await using app = await startFacade(proxy.url, { GATEWAY_TIMEOUT_MS: '1000' });
    proxy.fail('getCustomerId', { kind: 'half-open' });
    const codes: string[] = [];
    let asked = 0;
    // Each for another account, or they would share one call.
    const ask = async () => {
      asked += 1;
      const token = sandbox.token({ email: `user-${asked}@example.com` });
      // Failures of strangers behind one address would be one account's.
      await app.query('{ session { login } }', { token });
      const { errors } = await app.query('{ customerId }', { token });
      codes.push(...errors.map(({ extensions }) => extensions.code));
    };
    const askAtOnce = () => Promise.all(Array.from({ length: 10 }, ask));
    await stepUntil(() => codes.includes('GATEWAY_UNAVAILABLE'), askAtOnce, 50);
    expect([...new Set(codes)]).toEqual(['GATEWAY_TIMEOUT', 'GATEWAY_UNAVAILABLE']);
  });
});

/** Sends the same requests each time; returns the outcomes, those of payments only where they did not keep others waiting. */
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
  const ask = async (token: string, document: string, said: Set<string>) => {
    const { data, errors } = await app.query(document, { token });
    const [value] = Object.values(data ?? {}) as [{ __typename?: string } | null];
    said.add(errors[0]?.extensions.code ?? value?.__typename ?? 'data');
  };
  const asking: Promise<void>[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const token of tokens) {
      // The requests to payments are not awaited here: the others must not wait for them.
      asking.push(ask(token, '{ customerId }', payments));
      asking.push(ask(token, '{ withdrawalMethods { id } }', payments));
      await ask(token, '{ positions { id } }', reads);
      await ask(token, '{ session(maxAge: 0) { balance } }', reads);
      await ask(token, placeOrder(`round ${round}`), orders);
    }
  }
  if (!isDead) await Promise.all(asking);
  const outcomes = { payments: [...payments], reads: [...reads], orders: [...orders] };
  const placed = sandbox.orders().length;
  await proxy.refuse();
  await Promise.all(asking);
  return { ...outcomes, placed };
}

function placeOrder(key: string): string {
  return `mutation { placeOrder(input: {
    symbol: "AAPL", side: BUY, size: { amount: 20 }, idempotencyKey: "${key}"
  }) { __typename } }`;
}
