import { gql, type TypedDocumentNode } from '@apollo/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { newKey } from '../../../test/support/order-keys.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { PositionChanges } from '../../src/live/positions-operation.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { type ApolloDevice, startApolloDevice } from './apollo-device.ts';

const POSITION_CHANGES: TypedDocumentNode<{ changes: PositionChanges }, { from?: string }> = gql`
  subscription Changes($from: String) {
    changes: positionChanges(after: $from) {
      cursor snapshot closed totals { count profit } status asOf
      upserted { id symbol profit priceCurrent }
      ticks { id profit priceCurrent }
    }
  }
`;
const DEMO_LOGIN = 700_001;
const PLACE = 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const proxy = startedForEach(() => startCutProxy(app.url));
let device: ApolloDevice;
let token: () => string | null;

beforeEach(() => {
  token = () => app.sandbox.token({ email: 'demo@example.com' });
  device = startApolloDevice(`${proxy.url}/graphql`, () => token());
});
afterEach(() => device[Symbol.dispose]());

/** Follows the list like an app. */
class Follower {
  readonly events: PositionChanges[] = [];
  readonly connection: string[] = [];
  readonly errors: unknown[] = [];
  isComplete = false;
  readonly end: () => void;

  constructor() {
    const subscription = device.apollo
      .subscribe({
        query: POSITION_CHANGES,
        context: {
          connected: () => void this.connection.push('connected'),
          disconnected: () => void this.connection.push('disconnected'),
        },
      })
      .subscribe({
        next: ({ data, error }) => {
          if (error) this.errors.push(error);
          if (!data) return;
          this.events.push(data.changes);
        },
        complete: () => {
          this.isComplete = true;
        },
      });
    this.end = () => subscription.unsubscribe();
  }

  get snapshots(): number {
    return this.events.filter(({ snapshot }) => snapshot).length;
  }
}

async function moves(follower: Follower): Promise<void> {
  const received = follower.events.length;
  app.sandbox.tick();
  await eventually(() => expect(follower.events.length).toBeGreaterThan(received));
}

function order() {
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
  return { input: { ...order, idempotencyKey: newKey() } };
}

describe('positionChanges', () => {
  test('resumes at its cursor after each cut socket, and misses no change', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    for (let round = 0; round < 2; round += 1) {
      await moves(follower);
      const { upgrades } = proxy;
      proxy.cut();
      // While the connection is lost the market moves and a position is opened.
      app.sandbox.tick();
      await app.query(PLACE, { token: token(), variables: order() });
      await eventually(() => expect(proxy.upgrades).toBeGreaterThan(upgrades));
      await moves(follower);
    }
    // The last event counts all positions, also those that were opened in between.
    await eventually(() => expect(follower.events.at(-1)?.totals.count).toBe(8));
    // There was one whole list at the beginning, and none after a lost connection.
    expect(follower.snapshots).toBe(1);
    expect(follower.connection).toEqual([
      'connected',
      ...Array(2).fill(['disconnected', 'connected']).flat(),
    ]);
    expect(follower.errors).toEqual([]);
    follower.end();
    await eventually(() => expect(proxy.openWebSockets).toBe(0));
  });

  test('ends with an error for the app if its token is refused and the renewal returns the same token', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    const dead = token();
    token = () => dead;
    app.sandbox.revoke({ login: DEMO_LOGIN });
    await eventually(() => follower.isComplete);
    expect(follower.errors).toMatchObject([{ name: 'TradingGraphError', code: 'SIGNED_OUT' }]);
    expect(device.signedOut).toEqual(['SIGNED_OUT']);
    await eventually(() => expect(proxy.openWebSockets).toBe(0));
  });
});
