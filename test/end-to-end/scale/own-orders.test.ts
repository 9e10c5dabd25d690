import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithHaproxy, describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { type Replicas, startReplicas } from '../../support/replicas.ts';
import { Viewer } from './crowd.ts';

interface Account {
  readonly orders: readonly { readonly id: string }[];
  readonly session: {
    readonly orders: readonly { readonly id: string }[];
    readonly positions: readonly { readonly id: string }[];
  };
  readonly positions: readonly { readonly id: string }[];
}

const ACCOUNT = '{ orders { id } session { orders { id } positions { id } } positions { id } }';
const OUTCOME = '{ __typename ... on OrderAccepted { orderId } }';

async function ask<Data>(url: string, token: string, query: string, variables = {}): Promise<Data> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

describeWithHaproxy('three replicas', (haproxyPath) => {
  describeWithRedis('that share a Redis show an own order', (redisPath) => {
    let sandbox: Sandbox;
    let redis: TestRedis;
    let replicas: Replicas;

    beforeAll(async () => {
      redis = await startTestRedis(redisPath);
      sandbox = await startSandbox({ seed: 'own-orders', instruments: 40, tickMs: 0 });
      replicas = await startReplicas(haproxyPath, {
        GATEWAY_URL: sandbox.url,
        REDIS_URL: redis.url,
        RATE_LIMIT_PER_MINUTE: '1000000',
        // A list that a feed has just read is long the newest: only an order makes it outdated.
        POSITIONS_POLL_MS: '30000',
      });
    });
    afterAll(async () => {
      await replicas?.[Symbol.asyncDispose]();
      await sandbox?.close();
      await redis?.[Symbol.asyncDispose]();
    });

    const place = (url: string, token: string, key: string, price?: number) =>
      ask<{ placeOrder: { __typename: string; orderId?: string } }>(
        url,
        token,
        `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) ${OUTCOME} }`,
        {
          input: {
            ...{ symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: key },
            ...(price !== undefined && { price }),
          },
        },
      ).then(({ placeOrder }) => placeOrder);

    /** The account as each replica shows it; each token of its may have a snapshot in memory there. */
    const everywhere = (tokens: readonly string[]) =>
      Promise.all(
        replicas.all.flatMap(({ url }) => tokens.map((token) => ask<Account>(url, token, ACCOUNT))),
      );

    const counts = (accounts: readonly Account[]) => ({
      orders: new Set(accounts.flatMap((each) => [each.orders, each.session.orders].map(lengthOf))),
      positions: new Set(
        accounts.flatMap((each) => [each.positions, each.session.positions].map(lengthOf)),
      ),
    });

    test('on each of them as soon as its outcome is there, accepted or unknown', async () => {
      const email = 'user-1@example.com';
      const tokens = [sandbox.token({ email }), sandbox.token({ email })];
      const [token = ''] = tokens;
      let before = counts(await everywhere(tokens));
      expect(before).toMatchObject({ orders: { size: 1 }, positions: { size: 1 } });
      for (let round = 0; round < 6; round += 1) {
        const isUnknown = round % 2 === 1;
        if (isUnknown) sandbox.fail({ operation: 'openPosition', kind: 'reset-after', times: 1 });
        const placed = await place(replicas.url, token, `order ${round}`, 1);
        expect(placed.__typename).toBe(isUnknown ? 'OrderOutcomeUnknown' : 'OrderAccepted');
        const [held = 0] = before.orders;
        before = counts(await everywhere(tokens));
        expect([...before.orders]).toEqual([held + 1]);
      }
    });

    test('in the positions of each, though it has a live list in memory', async () => {
      const email = 'user-2@example.com';
      const token = sandbox.token({ email });
      const viewers = replicas.all.map(
        ({ url }) => new Viewer({ email, url: `${url}/graphql`, sandbox, route: false }),
      );
      await eventually(() => viewers.every(({ state }) => state?.status === 'LIVE'));
      let before = counts(await everywhere([token]));
      const calls = sandbox.calls('getOpenPositions');
      await everywhere([token]);
      // Positions came from the feeds.
      expect(sandbox.calls('getOpenPositions')).toBe(calls);
      for (let round = 0; round < 4; round += 1) {
        const { url } = replicas.all[round % 3] ?? replicas;
        expect((await place(url, token, `order ${round}`)).__typename).toBe('OrderAccepted');
        const [held = 0] = before.positions;
        before = counts(await everywhere([token]));
        expect([...before.positions]).toEqual([held + 1]);
      }
      for (const viewer of viewers) viewer.dispose();
    });
  });
});

function lengthOf(list: readonly unknown[]): number {
  return list.length;
}
