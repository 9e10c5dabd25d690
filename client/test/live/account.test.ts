import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { AccountState } from '../../src/live/states.ts';
import type { TypedText } from '../../src/operation.ts';
import { type Device, gatewayList, type LiveWorld, prints, startLiveWorld } from './live-world.ts';

const PLACE: TypedText<{ placeOrder: { __typename: string } | null }, { input: object }> =
  'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
const PENDING = { symbol: 'AAPL', side: 'BUY', kind: 'PENDING', price: 1, size: { units: 1 } };

let world: LiveWorld;

beforeEach(async () => {
  world = await startLiveWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

/** The states that a listener was told. */
function follow(device: Device): readonly AccountState[] {
  const states: AccountState[] = [];
  device.account((state) => void states.push(state));
  return states;
}

const isWhole = (state: AccountState | undefined) =>
  state?.status === 'LIVE' && state.orders !== null && state.session !== null;

async function place({ core }: Device, input: object): Promise<void> {
  const { data } = await core.request(PLACE, { input });
  expect(data?.placeOrder?.__typename).toBe('OrderAccepted');
}

async function agrees(device: Device): Promise<void> {
  await eventually(async () => {
    const { positions, status } = device.account.state();
    expect(prints(positions)).toBe(prints(await gatewayList(world)));
    expect(status).toBe('LIVE');
  });
}

test('positions, orders and figures follow the gateway, over one subscription', async () => {
  const device = world.device();
  const states = follow(device);
  expect(device.account.state()).toMatchObject({ orders: null, session: null, status: 'OFFLINE' });
  await eventually(() => isWhole(states.at(-1)));
  const before = device.account.state();
  expect(before).toMatchObject({ session: { login: '700001' }, asOf: expect.any(Date) });
  expect(before.ordersAsOf).toBeInstanceOf(Date);
  await place(device, { ...PENDING, idempotencyKey: 'pending-1' });
  const count = (before.orders?.length ?? 0) + 1;
  await eventually(() => device.account.state().orders?.length === count);
  world.sandbox.tick();
  await agrees(device);
  expect(device.core.begun).toBe(1);
});

test('a lost line is replaced, and all goes on from the cursor with the rows that were there', async () => {
  const device = world.device();
  const states = follow(device);
  await eventually(() => isWhole(states.at(-1)));
  const shown = device.account.state();
  world.proxy.kill();
  await eventually(() => states.at(-1)?.status === 'OFFLINE');
  expect(states.at(-1)).toMatchObject({ positions: shown.positions, session: shown.session });
  await place(device, { ...PENDING, idempotencyKey: 'pending-2' });
  await eventually(() => device.account.state().orders?.length === (shown.orders?.length ?? 0) + 1);
  await agrees(device);
  expect(device.core.sent).toMatchObject([{ after: null }, { after: expect.any(String) }]);
});

test('is delayed while the gateway fails', async () => {
  const states = follow(world.device());
  await eventually(() => isWhole(states.at(-1)));
  world.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500, times: 3 });
  await eventually(() => states.at(-1)?.status === 'DELAYED');
  await eventually(() => states.at(-1)?.status === 'LIVE');
});

test("another account starts from nothing, and nothing of the former one's is shown", async () => {
  let email = 'demo@example.com';
  const device = world.device({ token: () => world.sandbox.token({ email }) });
  const states = follow(device);
  await eventually(() => isWhole(states.at(-1)));
  email = 'pro@example.com';
  await device.core.tokenChanged();
  await eventually(() => isWhole(states.at(-1)) && states.at(-1)?.session?.login !== '700001');
  const changed = states.findIndex(({ asOf }, at) => at > 1 && asOf === null);
  expect(states[changed]).toMatchObject({ positions: [], orders: null, session: null });
  const after = states.slice(changed).filter(({ session }) => session !== null);
  expect(after.map(({ session }) => session?.login)).not.toContain('700001');
  expect(after[0]?.positions).toHaveLength(25);
});
