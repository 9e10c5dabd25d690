import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { withEarlierStore } from '../../support/earlier-store.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { keyOf } from '../../support/order-keys.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { startTestRedis } from '../../support/redis.ts';
import { runCli } from '../../support/run-cli.ts';
import { seriesValue } from '../operations/scraped.ts';
import { OrderClient } from './order-client.ts';
import { marketOrder } from './order-request.ts';

const folder = ownFolder();
const LOG_ACCOUNT_KEY = 'the key of the hashes in the log';
// An order can be settled only a minute after its deadline.
const MAX_SETTLE_MS = 100_000;
const UNKNOWN = { type: 'OrderOutcomeUnknown' };

/** The lines that an operator finds in the logs of all replicas. */
function linesOf(replicas: readonly FacadeProcess[], message: string) {
  return replicas
    .flatMap(({ logged }) => logged)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
}

/** Finds, shows and settles orders like an operator, with only the log and the command line. Both replicas use the result. */
async function expectOperatorCanSettle(store: Readonly<Record<string, string>>) {
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40 });
  const own = { LOG_ACCOUNT_KEY, ORDER_TIMEOUT_MS: '2000' };
  const environment = await withEarlierStore({ ...store, ...own });
  const start = () => startFacadeProcess({ ...environment, GATEWAY_URL: sandbox.url });
  await using one = await start();
  await using two = await start();
  const cli = (...args: string[]) => runCli(['orders', ...args], { ...store, LOG_ACCOUNT_KEY });
  await using opened = new AsyncDisposableStack();
  const clientOf = (user: number, replica: FacadeProcess) => {
    const token = sandbox.token({ email: `user-${user}@example.com` });
    return opened.adopt(new OrderClient(replica, token), (client) => client.close());
  };
  const loginOf = (user: number) => String(800_000 + user);
  const order = marketOrder('k', 'TEST.UNKNOWN');
  await eventually(async () => expect(await clientOf(1, one).place(order)).toMatchObject(UNKNOWN));
  for (const user of [2, 3]) expect(await clientOf(user, one).place(order)).toMatchObject(UNKNOWN);
  // A fourth order has no answer yet when its process is killed.
  const cut = clientOf(4, two).place(marketOrder('cut', 'TEST.SLOW'));
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(4));
  await two.kill();
  expect(await cut).toEqual({ kind: 'cut' });
  await two.start();

  // The operator finds the log line by the hash of the login, and the key by the log line.
  const { out: hash } = await runCli(['hash', loginOf(1)], { LOG_ACCOUNT_KEY });
  const orderLines = linesOf([one, two], 'order').filter(({ account }) => account === hash.trim());
  expect(orderLines).toMatchObject([
    { outcome: 'unknown', symbol: 'TEST.UNKNOWN', side: 'BUY', size: { by: 'units', value: 1 } },
  ]);
  const listed = await cli('list', '--unknown');
  const keyHash = `keyHash="${orderLines[0]?.key}"`;
  const found = listed.out
    .split('\n')
    .filter((line) => line.includes(keyHash) && line.includes(loginOf(1)));
  expect(found).toEqual([
    expect.stringMatching(
      / key="[^"]+" .*symbol="TEST.UNKNOWN" side="BUY" size={"by":"units","value":1} .*outcome="unknown"/,
    ),
  ]);
  const date = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
  const asked = new RegExp(`asked ${date}  requestId="[^"]+" kind="MARKET"`);
  expect((await cli('show', loginOf(1), keyOf('k'))).out).toMatch(asked);
  // The fifth user has no order.
  expect((await cli('show', loginOf(5), keyOf('k'))).code).toBe(1);

  const reason = ['--by', 'jane', '--why', 'back office, ticket 4711'];
  const settle = (login: string, ...outcome: string[]) =>
    cli('settle', login, keyOf('k'), ...outcome, ...reason);
  expect((await settle(loginOf(5), 'not-sent')).code).toBe(1);
  const early = await settle(loginOf(1), 'accepted', '--number', '4711');
  expect(early).toMatchObject({ code: 1, err: expect.stringMatching(/settle it in \d+ s/) });
  const isDone = ({ code }: { code: number }) => code === 0;
  const untilSettled = { until: isDone, withinMs: MAX_SETTLE_MS };
  await eventually(() => settle(loginOf(1), 'accepted', '--number', '4711'), untilSettled);
  await eventually(() => settle(loginOf(3), 'not-sent'), untilSettled);
  const contradicting = await settle(loginOf(1), 'not-sent');
  expect(contradicting).toMatchObject({ code: 1, err: expect.stringContaining('by="jane"') });

  const ordersBefore = sandbox.calls('openPosition');
  for (const replica of [one, two]) {
    // The outcomes of the first three users' orders: two are settled, and the second is still unknown.
    const outcomes = [
      { type: 'OrderAccepted', orderId: '4711', replayed: true },
      { ...UNKNOWN, replayed: true },
      { type: 'OrderRejected', error: 'SETTLED', sent: false, replayed: true },
    ];
    for (const [index, outcome] of outcomes.entries()) {
      const user = index + 1;
      const client = clientOf(user, replica);
      expect(await client.placedOrder('k')).toMatchObject(outcome);
      expect(await client.place(order)).toMatchObject(outcome);
      expect(await client.void('k')).toMatchObject(outcome);
    }
    expect(await seriesValue(replica, 'orders_contradicted_total')).toBe(0);
  }
  expect(sandbox.calls('openPosition')).toBe(ordersBefore);
  const afterwards = await cli('show', loginOf(1), keyOf('k'));
  expect(afterwards.out).toMatch(/outcome="accepted" orderId="4711" by="jane"/);

  // One of the two processes logs that the fourth order was cut off.
  const cutOffLines = () =>
    linesOf([one, two], 'an order ended unknown').filter((line) => line.isCutOff === true);
  await eventually(() => expect(cutOffLines()).toHaveLength(1));
  const cutShown = await cli('show', loginOf(4), keyOf('cut'));
  expect(cutShown.out).toMatch(/unknown[\s\S]*symbol="TEST.SLOW"/);
}

describe.concurrent('a disputed order', () => {
  test('can be found, shown and settled in a file', async () => {
    await expectOperatorCanSettle({ ORDER_STORE: join(folder.path, 'orders.db') });
  });

  describeWithRedis('with Redis', (serverPath) => {
    test('can be found, shown and settled', async () => {
      const args = ['--appendonly', 'yes'];
      await using redis = await startTestRedis(serverPath, { args });
      await expectOperatorCanSettle({ REDIS_URL: redis.url });
    });
  });
});
