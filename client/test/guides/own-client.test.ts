import { afterAll, beforeAll, describe } from 'vitest';
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
