import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startTestRedis } from '../../support/redis.ts';
import { startedOnce } from '../../support/started.ts';
import { Viewer } from './crowd.ts';

const ACCOUNT = '{ orders { id } session { orders { id } positions { id } } positions { id } }';

describeWithRedis('three replicas that share a Redis show an own order', (redisPath) => {
  const redis = startedOnce(() => startTestRedis(redisPath));
  const sandbox = startedOnce(() => startSandbox({ instruments: 40, tickMs: 0 }));
  // With such rare polls, only an order outdates the list that a feed has read.
  const replica = () =>
    startedOnce(() => {
      const environment = { REDIS_URL: redis.url, POSITIONS_POLL_MS: '30000' };
      return startTestApp(environment, { gateway: sandbox });
    });
  const replicas = [replica(), replica(), replica()];

  const place = async (replica: TestApp, token: string, key: string, price?: number) => {
    const kind = price === undefined ? 'MARKET' : 'PENDING';
    const order = { symbol: 'AAPL', side: 'BUY', kind, size: { units: 1 }, price };
    const input = { ...order, idempotencyKey: keyOf(key) };
    const { data } = await replica.query(
      'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }',
      { token, variables: { input } },
    );
    return data.placeOrder.__typename;
  };

  /** The different numbers of orders and of positions in all answers to these tokens. If all agree, there is one number. */
  const everywhere = async (tokens: readonly string[]) => {
    const answers = await Promise.all(
      replicas.flatMap(({ query }) => tokens.map((token) => query(ACCOUNT, { token }))),
    );
    const counts = (list: 'orders' | 'positions') => [
      ...new Set(
        answers.flatMap(({ data }) => [data[list].length, data.session[list].length] as number[]),
      ),
    ];
    return { orders: counts('orders'), positions: counts('positions') };
  };

  test('on each replica as soon as its client has the outcome, even with a live list in memory', async () => {
    const email = 'user-1@example.com';
    const tokens = [sandbox.token({ email }), sandbox.token({ email })];
    const viewers = replicas.map(
      ({ url }) => new Viewer({ email, url: `${url}/graphql`, sandbox, route: false }),
    );
    await eventually(() => viewers.every(({ state }) => state?.status === 'LIVE'));
    const { orders, positions } = await everywhere(tokens);
    expect([orders, positions]).toEqual([[expect.any(Number)], [expect.any(Number)]]);
    const callsBefore = sandbox.calls('getOpenPositions');
    await everywhere(tokens);
    // The feeds have served the positions.
    expect(sandbox.calls('getOpenPositions')).toBe(callsBefore);
    for (let round = 1; round <= 6; round += 1) {
      const replica = replicas[round % 3] as TestApp;
      const isUnknown = round % 2 === 0;
      if (isUnknown) sandbox.fail({ operation: 'openPosition', kind: 'reset-after', times: 1 });
      const [token = ''] = tokens;
      expect(await place(replica, token, `limit ${round}`, 1)).toBe(
        isUnknown ? 'OrderOutcomeUnknown' : 'OrderAccepted',
      );
      expect((await everywhere(tokens)).orders).toEqual([(orders[0] ?? 0) + round]);
      expect(await place(replica, token, `market ${round}`)).toBe('OrderAccepted');
      expect((await everywhere(tokens)).positions).toEqual([(positions[0] ?? 0) + round]);
    }
    for (const viewer of viewers) viewer.dispose();
  });
});
