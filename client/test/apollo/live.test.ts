import { gql, InMemoryCache, type Reference, type TypedDocumentNode } from '@apollo/client';
import type { FieldFunctionOptions } from '@apollo/client/cache';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import {
  writeAccountChanges,
  writeListChanges,
  writePositionChanges,
} from '../../src/apollo/write-changes.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import type { PositionChanges } from '../../src/live/positions-operation.ts';
import { gatewayList, prints, startLiveWorld } from '../live/live-world.ts';
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
const ACCOUNT_CHANGES: TypedDocumentNode<{ accountChanges: AccountChanges }, { after?: string }> =
  gql`
  subscription Account($after: String) {
    accountChanges(after: $after) {
      cursor snapshot status asOf
      positions { upserted { id symbol profit } ticks { id profit } closed }
      orders { upserted { id symbol priceOpen } closed fetchedAt }
      session { id balance equity }
    }
  }
`;
const POSITIONS: TypedDocumentNode<{ positions: readonly { id: string; profit: number }[] }> = gql`
  { positions { id profit } }
`;
const ORDERS: TypedDocumentNode<{ orders: readonly { id: string }[] }> = gql`{ orders { id } }`;
const SESSION: TypedDocumentNode<{ session: { balance: number } }> = gql`{ session { balance } }`;
const PLACE = 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';

const world = startedForEach(startLiveWorld);
let device: ApolloDevice;
let token: () => string | null;

beforeEach(() => {
  token = () => world.sandbox.token({ email: 'demo@example.com' });
  device = startApolloDevice({ url: `${world.proxy.url}/graphql`, token: () => token() });
});
afterEach(() => device[Symbol.dispose]());

/** Follows as an app does: each event goes into the cache, and what is shown comes from there. */
class Follower {
  readonly events: PositionChanges[] = [];
  readonly line: string[] = [];
  readonly errors: unknown[] = [];
  isComplete = false;
  readonly end: () => void;

  constructor() {
    const subscription = device.apollo
      .subscribe({
        query: POSITION_CHANGES,
        context: {
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

const cached = () => device.apollo.readQuery({ query: POSITIONS })?.positions ?? [];
const cachedOrders = () => device.apollo.readQuery({ query: ORDERS })?.orders.map(({ id }) => id);

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
  await eventually(() => expect(follower.events.length).toBeGreaterThan(heard));
  await agrees();
}

function order(idempotencyKey: string, kind = {}) {
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
  return { input: { ...order, idempotencyKey, ...kind } };
}

describe('positionChanges', () => {
  test('goes on by its cursor after each cut socket, and lacks nothing', async () => {
    const follower = new Follower();
    await eventually(() => follower.events.length > 0);
    await agrees();
    for (let round = 0; round < 2; round += 1) {
      await moves(follower);
      const lines = world.proxy.upgrades;
      world.proxy.cut();
      // While the line is lost the market moves and a position is opened.
      world.sandbox.tick();
      await world.witness.query(PLACE, { token: token(), variables: order(`gap-${round}`) });
      await eventually(() => expect(world.proxy.upgrades).toBeGreaterThan(lines));
      await moves(follower);
      expect(cached()).toHaveLength(7 + round);
    }
    // Prices that moved came alone, and the cache has no objects of theirs.
    expect(follower.events.some(({ ticks }) => ticks?.length)).toBe(true);
    expect(Object.keys(device.apollo.extract() as object)).not.toContainEqual(
      expect.stringContaining('Tick'),
    );
    // One whole list at the beginning, and none after a lost line.
    expect(follower.snapshots).toBe(1);
    expect(follower.line).toEqual([
      'connected',
      ...Array(2).fill(['disconnected', 'connected']).flat(),
    ]);
    expect(follower.errors).toEqual([]);
    follower.end();
    await eventually(() => expect(world.proxy.openLines).toBe(0));
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
    await eventually(() => expect(world.proxy.openLines).toBe(0));
  });
});

test('accountChanges keeps positions, orders and figures of the cache, over a lost line as well', async () => {
  const events: AccountChanges[] = [];
  device.apollo.subscribe({ query: ACCOUNT_CHANGES }).subscribe(({ data }) => {
    if (!data) return;
    events.push(data.accountChanges);
    writeAccountChanges(device.apollo.cache, data.accountChanges);
  });
  const balance = () => device.apollo.readQuery({ query: SESSION })?.session.balance;
  await eventually(() => expect(balance()).toBe(50_000));
  expect(cachedOrders()).toHaveLength(3);
  world.proxy.cut();
  await eventually(() => expect(world.proxy.upgrades).toBe(2));
  const variables = order('pending', { kind: 'PENDING', price: 1 });
  await device.apollo.mutate({ mutation: gql(PLACE), variables });
  await eventually(() => expect(cachedOrders()?.length).toBe(4));
  world.sandbox.tick();
  await agrees();
  expect(events.filter(({ snapshot }) => snapshot)).toHaveLength(1);
});

describe('the cache', () => {
  test('of any list keeps the rows by their key, and takes what a tick says into them', () => {
    const cache = new InMemoryCache({ typePolicies: { Quote: { keyFields: ['symbol'] } } });
    const query = gql`{ quotes { symbol price name } }`;
    const subscription = gql`
      subscription { quotesChanges { upserted { symbol price name } ticks { symbol price } } }
    `;
    const list = { field: 'quotes', type: 'Quote', key: 'symbol' };
    const quote = (symbol: string, price: number) => ({ symbol, price, name: `${symbol} Inc.` });
    const write = (
      snapshot: boolean,
      { rows = [], moved = [], closed = [] }: Readonly<Record<string, readonly unknown[]>>,
    ) => {
      const upserted = rows.map((row) => Object.assign({ __typename: 'Quote' }, row));
      const ticks = moved.map((row) => Object.assign({ __typename: 'QuoteTick' }, row));
      const quotesChanges = { __typename: 'QuotesChanges', upserted, ticks };
      cache.writeQuery({ query: subscription, id: 'ROOT_SUBSCRIPTION', data: { quotesChanges } });
      writeListChanges(cache, list, { snapshot, upserted, ticks, closed: closed as string[] });
      return cache.readQuery<{ quotes: readonly object[] }>({ query })?.quotes ?? null;
    };
    const typed = (symbol: string, price: number) => ({
      __typename: 'Quote',
      ...quote(symbol, price),
    });
    expect(write(false, { rows: [quote('A', 1)] })).toBeNull();
    const rows = [quote('A', 1), quote('B', 1)];
    expect(write(true, { rows })).toEqual([typed('A', 1), typed('B', 1)]);
    const moved = [{ symbol: 'B', price: 2 }];
    expect(write(false, { rows: [quote('C', 1)], moved })).toEqual([
      typed('A', 1),
      typed('B', 2),
      typed('C', 1),
    ]);
    expect(write(false, { closed: ['A', 'C'] })).toEqual([typed('B', 2)]);
    expect(write(true, { rows: [quote('D', 1)] })).toEqual([typed('D', 1)]);
    expect(Object.keys(cache.extract()).filter((key) => key.startsWith('Quote:'))).toHaveLength(1);
    const nameless = { snapshot: true, upserted: [{ price: 1 }], closed: [] };
    expect(() => writeListChanges(cache, list, nameless)).toThrow('Select symbol');
  });

  test('keeps the rows that the app hides by a `read` of its own, and their order', () => {
    let isHiding = true;
    const read = (rows: readonly Reference[] = [], { readField }: FieldFunctionOptions) =>
      isHiding ? rows.filter((row) => readField('id', row) !== '1').toReversed() : rows;
    const cache = new InMemoryCache({
      typePolicies: { Query: { fields: { positions: { read } } } },
    });
    const row = (id: string) => ({ __typename: 'Position', id });
    const snapshot = { snapshot: true, upserted: ['1', '2', '3'].map(row), closed: [] };
    writePositionChanges(cache, snapshot);
    writePositionChanges(cache, { snapshot: false, upserted: [row('4')], closed: ['2'] });
    isHiding = false;
    const query = gql`{ positions { id } }`;
    expect(cache.readQuery({ query })).toEqual({ positions: ['1', '3', '4'].map(row) });
    expect(Object.keys(cache.extract())).not.toContain('Position:2');
  });

  test('takes the first orders after a snapshot without any for the whole list', () => {
    const { cache } = device.apollo;
    const row = (id: string) => ({ __typename: 'Order', id });
    const write = (snapshot: boolean, orders: object | null) => {
      const positions = { upserted: [], closed: [] };
      writeAccountChanges(cache, { snapshot, positions, orders: orders as never });
    };
    write(true, { upserted: [row('1'), row('2')], closed: [] });
    write(false, { upserted: [row('3')], closed: ['1'] });
    expect(cachedOrders()).toEqual(['2', '3']);
    write(true, null);
    write(false, { upserted: [row('4')], closed: [] });
    expect(cachedOrders()).toEqual(['4']);
    write(false, { upserted: [row('5')], closed: [] });
    expect(cachedOrders()).toEqual(['4', '5']);
  });
});
