import { gql, type TypedDocumentNode } from '@apollo/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { writeAccountChanges } from '../../src/apollo/write-changes.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import { gatewayList, type LiveWorld, prints, startLiveWorld } from '../live/live-world.ts';
import { type ApolloDevice, startApolloDevice } from './apollo-device.ts';

const CHANGES: TypedDocumentNode<{ accountChanges: AccountChanges }, { after?: string }> = gql`
  subscription Account($after: String) {
    accountChanges(after: $after) {
      cursor snapshot status asOf
      positions { upserted { id symbol profit } closed }
      orders { upserted { id symbol priceOpen } closed fetchedAt }
      session { id balance equity }
    }
  }
`;
interface Shown {
  readonly session: { readonly balance: number } | null;
  readonly positions: readonly { readonly id: string; readonly profit: number }[];
  readonly orders: readonly { readonly id: string }[];
}
const SHOWN: TypedDocumentNode<Shown> = gql`
  { session { balance } positions { id profit } orders { id } }
`;
const PLACE = gql`
  mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }
`;

let world: LiveWorld;
let device: ApolloDevice;

beforeEach(async () => {
  world = await startLiveWorld();
  const token = () => world.sandbox.token({ email: 'demo@example.com' });
  device = startApolloDevice({ url: world.proxy.url, token });
});
afterEach(async () => {
  device[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

const shown = () => device.apollo.readQuery({ query: SHOWN });

test('accountChanges keeps positions, orders and figures of the cache, over a lost line as well', async () => {
  const events: AccountChanges[] = [];
  device.apollo.subscribe({ query: CHANGES }).subscribe(({ data }) => {
    if (!data) return;
    events.push(data.accountChanges);
    writeAccountChanges(device.apollo.cache, data.accountChanges);
  });
  await eventually(() => shown()?.session?.balance === 50_000);
  expect(shown()?.orders).toHaveLength(3);
  world.proxy.kill();
  const input = { symbol: 'AAPL', side: 'BUY', kind: 'PENDING', price: 1, size: { units: 1 } };
  const variables = { input: { ...input, idempotencyKey: 'apollo-1' } };
  await device.apollo.mutate({ mutation: PLACE, variables });
  await eventually(() => shown()?.orders.length === 4);
  world.sandbox.tick();
  await eventually(async () => {
    expect(prints(shown()?.positions ?? [])).toBe(prints(await gatewayList(world)));
  });
  expect(events.filter(({ snapshot }) => snapshot)).toHaveLength(1);
});

test('the first orders after a snapshot without any are the whole list', () => {
  const { cache } = device.apollo;
  const row = (id: string) => ({ __typename: 'Order', id });
  const write = (snapshot: boolean, orders: object | null) => {
    const positions = { upserted: [], closed: [] };
    writeAccountChanges(cache, { snapshot, positions, orders: orders as never });
  };
  const ids = () =>
    cache
      .readQuery<{ orders: { id: string }[] }>({ query: gql`{ orders { id } }` })
      ?.orders.map(({ id }) => id);
  write(true, { upserted: [row('1'), row('2')], closed: [] });
  write(false, { upserted: [row('3')], closed: ['1'] });
  expect(ids()).toEqual(['2', '3']);
  write(true, null);
  write(false, { upserted: [row('4')], closed: [] });
  expect(ids()).toEqual(['4']);
  write(false, { upserted: [row('5')], closed: [] });
  expect(ids()).toEqual(['4', '5']);
});
