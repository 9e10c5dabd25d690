import { gql, type TypedDocumentNode } from '@apollo/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { writePositionChanges } from '../../src/apollo/write-changes.ts';
import type { PositionChanges } from '../../src/live/positions-operation.ts';
import { gatewayList, type LiveWorld, prints, startLiveWorld } from '../live/live-world.ts';
import { type ApolloDevice, startApolloDevice } from './apollo-device.ts';

const CHANGES: TypedDocumentNode<{ changes: PositionChanges }, { from?: string }> = gql`
  subscription Changes($from: String) {
    changes: positionChanges(after: $from) {
      cursor snapshot closed totals { count profit } status asOf
      upserted { id symbol profit priceCurrent }
    }
  }
`;
const POSITIONS: TypedDocumentNode<{ positions: readonly { id: string; profit: number }[] }> = gql`
  { positions { id profit } }
`;
const PLACE = gql`
  mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }
`;

let world: LiveWorld;
let device: ApolloDevice;
let token: () => string | null;

beforeEach(async () => {
  world = await startLiveWorld();
  token = () => world.sandbox.token({ email: 'demo@example.com' });
  device = startApolloDevice({ url: world.proxy.url, token: () => token() });
});
afterEach(async () => {
  device[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

/** Follows as an app does: each event goes into the cache, and what is shown comes from there. */
class Follower {
  readonly events: PositionChanges[] = [];
  readonly line: string[] = [];
  readonly errors: unknown[] = [];
  isComplete = false;
  readonly end: () => void;

  constructor(queryDeduplication = true) {
    const subscription = device.apollo
      .subscribe({
        query: CHANGES,
        context: {
          queryDeduplication,
          connected: () => void this.line.push('connected'),
          disconnected: () => void this.line.push('disconnected'),
        },
      })
      .subscribe({
        next: ({ data, error }) => {
          if (error) this.errors.push(error);
          if (!data) return;
          this.events.push(data.changes);
          writePositionChanges(device.apollo.cache, data.changes);
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

function cached() {
  return device.apollo.readQuery({ query: POSITIONS })?.positions ?? [];
}

async function agrees(): Promise<void> {
  await eventually(async () => {
    const list = await gatewayList(world);
    expect(list.length).toBeGreaterThan(0);
    expect(prints(cached())).toBe(prints(list));
  });
}

async function moves(follower: Follower): Promise<void> {
  const heard = follower.events.length;
  world.sandbox.tick();
  await eventually(() => follower.events.length > heard);
  await agrees();
}

function place(idempotencyKey: string) {
  const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey };
  return device.apollo.mutate({ mutation: PLACE, variables: { input } });
}

describe('positionChanges', () => {
  test('goes on by its cursor after each killed socket, and lacks nothing', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    await agrees();
    for (let round = 0; round < 4; round += 1) {
      await moves(follower);
      const lines = world.proxy.accepted;
      world.proxy.stall();
      // While the line is dead the market moves and a position is opened.
      world.sandbox.tick();
      await world.witness.query(
        `mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "gap-${round}" }) { __typename } }`,
        { token: token() },
      );
      world.proxy.kill();
      world.proxy.heal();
      await eventually(() => world.proxy.accepted > lines);
      await moves(follower);
      expect(cached()).toHaveLength(7 + round);
    }
    // One whole list at the beginning, and none after a lost line.
    expect(follower.snapshots).toBe(1);
    expect(follower.line).toEqual([
      'connected',
      ...Array(4).fill(['disconnected', 'connected']).flat(),
    ]);
    expect(follower.errors).toEqual([]);
    follower.end();
    await eventually(() => world.proxy.openLines === 0);
  });

  test('takes a whole list from a server that does not know the cursor', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    await moves(follower);
    await world.restart();
    await eventually(() => follower.snapshots === 2);
    await moves(follower);
  });

  test('evicts what is closed, and adds what is opened', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    await place('opened');
    await eventually(() => cached().length === 7);
    await agrees();
    const [{ id } = { id: '' }] = cached();
    const dataId = device.apollo.cache.identify({ __typename: 'Position', id }) ?? '';
    expect(device.apollo.extract()).toHaveProperty([dataId]);
    writePositionChanges(device.apollo.cache, { snapshot: false, upserted: [], closed: [id] });
    expect(cached().map((row) => row.id)).not.toContain(id);
    expect(device.apollo.extract()).not.toHaveProperty([dataId]);
  });

  test('serves several subscribers of one operation, each with a list of its own', async () => {
    const first = new Follower(false);
    await eventually(() => first.snapshots === 1);
    const second = new Follower(false);
    await eventually(() => second.snapshots === 1);
    await moves(second);
    first.end();
    const heard = first.events.length;
    await moves(second);
    expect(first.events).toHaveLength(heard);
    expect(world.proxy.openLines).toBe(1);
    second.end();
    await eventually(() => world.proxy.openLines === 0);
  });

  test('renews its token, and goes on', async () => {
    let current = token();
    const asked: boolean[] = [];
    device[Symbol.dispose]();
    device = startApolloDevice({
      url: world.proxy.url,
      token: ({ force }) => {
        asked.push(force);
        if (force)
          current = world.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 300 });
        return current;
      },
    });
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    world.sandbox.revoke({ token: current ?? '' });
    await eventually(() => asked.includes(true));
    await moves(follower);
    expect(follower.snapshots).toBe(1);
    expect(asked.filter((force) => force)).toHaveLength(1);
    expect(device.signedOut).toEqual([]);
  });

  test('gives up with an error that the app sees where its token is dead', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    const dead = token();
    token = () => dead;
    world.sandbox.revoke({ login: 700_001 });
    await eventually(() => follower.isComplete);
    expect(follower.errors).toMatchObject([{ name: 'TradingGraphError', code: 'SIGNED_OUT' }]);
    expect(device.signedOut).toEqual(['SIGNED_OUT']);
    const lines = world.proxy.accepted;
    await eventually(() => world.proxy.openLines === 0);
    world.sandbox.tick();
    await gatewayList(world, 'pro@example.com');
    expect(world.proxy.accepted).toBe(lines);
  });
});
