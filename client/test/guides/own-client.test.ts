import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import type { Client } from '../../src/index.ts';
import { createSampleProject, type SampleProject } from '../support/sample-project.ts';
import { type GuideApp, type Home, type Row, TEST_SESSION, testPromises } from './guide-world.ts';

const HOME = `query Home {
  session { id balance equity currency }
  positions { id symbol units profit }
  orders { id symbol units priceOpen }
  withdrawalMethods { id title status }
}`;
const LIVE = `subscription Live($after: String) {
  positionChanges(after: $after) { cursor snapshot upserted { id symbol units profit } closed }
}`;
const PLACE = `mutation Place($input: PlaceOrderInput!) {
  placeOrder(input: $input) {
    __typename
    ... on OrderOutcome { idempotencyKey message replayed }
    ... on OrderAccepted { orderId }
    ... on OrderRejected { error }
    ... on OrderOutcomeUnknown { sentAt }
  }
}`;

interface Live {
  readonly positionChanges: {
    readonly cursor: string;
    readonly snapshot: boolean;
    readonly upserted: readonly Row[];
    readonly closed: readonly string[];
  };
}

let project: SampleProject;

beforeAll(async () => {
  project = await createSampleProject('docs/clients/README.md', {
    'src/session.ts': TEST_SESSION,
  });
});
afterAll(() => project[Symbol.dispose]());

describe('an app on the client alone', () => testPromises(startApp));

test('an order that has no answer is closed, and cannot be placed later', async () => {
  await using app = await startTestApp();
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const session = { freshToken: () => token, signedOut() {} };
  Object.assign(globalThis, { graphqlUrl: `${app.url}/graphql`, session });
  project.write(
    'entry.ts',
    "export * from './src/place-to-its-end'; export * from './src/trading-graph';",
  );
  const { placeToItsEnd, tradingGraph } = await project.load<{
    placeToItsEnd(send: () => Promise<null>, key: string, since: Date): Promise<unknown>;
    tradingGraph: Client;
  }>('entry.ts');
  let sent = 0;
  const lost = async () => {
    sent += 1;
    throw new Error('no answer');
  };
  const closed = { __typename: 'OrderRejected', idempotencyKey: 'lost' };
  expect(await placeToItsEnd(lost, 'lost', new Date())).toMatchObject(closed);
  expect(sent).toBe(2);
  const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: 'lost' };
  const { data } = await tradingGraph.mutate<{ placeOrder: unknown }, object>(PLACE, { input });
  expect(data?.placeOrder).toMatchObject(closed);
  expect(app.sandbox.orders()).toEqual([]);
});

async function startApp(): Promise<GuideApp> {
  const { tradingGraph } = await project.load<{ tradingGraph: Client }>('src/trading-graph.ts');
  let screen: Home | null = null;
  return {
    follow() {
      const following = {
        rows: [] as readonly Row[],
        snapshots: [] as boolean[],
        error: null as unknown,
      };
      let after: string | null = null;
      const byId = new Map<string, Row>();
      const stop = tradingGraph.subscribe<Live, object>(LIVE, () => ({ after }), {
        next({ data }) {
          if (data === null) return;
          const { cursor, snapshot, upserted, closed } = data.positionChanges;
          after = cursor;
          if (snapshot) byId.clear();
          for (const id of closed) byId.delete(id);
          for (const row of upserted) byId.set(row.id, row);
          following.rows = [...byId.values()];
          following.snapshots.push(snapshot);
        },
        ended(error) {
          following.error = error;
        },
      });
      return Object.assign(following, { stop });
    },
    async home() {
      const { data, errors } = await tradingGraph.query<Home, object>(HOME);
      screen = data;
      if (data === null) throw errors[0] ?? new Error('nothing came');
      return { data, failed: errors.map(({ path }) => path?.[0]) };
    },
    async place(input) {
      const { data } = await tradingGraph.mutate<{ placeOrder: unknown }, object>(PLACE, { input });
      return data?.placeOrder;
    },
    // It has no normalized cache: what a query answered is the app's own.
    cached: (type, id) =>
      screen?.[type === 'Position' ? 'positions' : 'orders']?.find((row) => row.id === id) ?? null,
  };
}
