import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { Positions } from '../../src/live/positions.ts';
import type { AccountState } from '../../src/live/states.ts';
import type { TypedText } from '../../src/operation.ts';
import { Audience, gatewayList, prints, startLiveWorld } from './live-world.ts';

const PLACE: TypedText<{ placeOrder: { __typename: string } | null }, { input: object }> =
  'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
const PENDING = { symbol: 'AAPL', side: 'BUY', kind: 'PENDING', price: 1, size: { units: 1 } };

const world = startedForEach(startLiveWorld);

async function follow(positions: Positions): Promise<Audience> {
  const audience = new Audience(positions);
  await eventually(() => audience.isLive);
  return audience;
}

async function agrees(audience: Audience): Promise<void> {
  await eventually(async () => {
    const own = audience.last?.positions.map(({ id, profit }) => ({ id, profit })) ?? [];
    expect(prints(own)).toBe(prints(await gatewayList(world)));
    expect(audience.isLive).toBe(true);
  });
}

/** Moves the market until a listener has heard of it. */
async function moves(audience: Audience): Promise<void> {
  const before = audience.last?.positions;
  world.sandbox.tick();
  await eventually(() => audience.last?.positions !== before);
  await agrees(audience);
}

describe('the list', () => {
  test('follows the gateway, in its order, and keeps what has not changed', async () => {
    const { positions } = world.device();
    const audience = new Audience(positions);
    expect(positions.state()).toMatchObject({ positions: [], totals: null, status: 'OFFLINE' });
    await eventually(() => audience.isLive);
    expect(audience.last?.positions).toHaveLength(6);
    expect(audience.last?.totals?.count).toBe(6);
    expect(audience.last?.asOf).toBeInstanceOf(Date);
    expect(positions.state()).toBe(audience.last);
    await moves(audience);
    expect(new Set(audience.states).size).toBe(audience.states.length);
  });

  test('is delayed while the gateway fails, and live again after', async () => {
    const audience = await follow(world.device().positions);
    const shown = audience.last?.positions;
    world.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500, times: 3 });
    await eventually(() => audience.last?.status === 'DELAYED');
    expect(audience.last?.positions).toBe(shown);
    await moves(audience);
  });
});

describe('listeners', () => {
  test('mounted, unmounted and mounted again in one tick open one subscription', async () => {
    const { positions, core } = world.device();
    const first = new Audience(positions);
    first.end();
    first.end();
    const second = new Audience(positions);
    await eventually(() => second.isLive);
    expect(core.begun).toBe(1);
    expect(first.states).toEqual([]);
  });

  test('share a subscription, hear the same object, and leave each by itself', async () => {
    const { positions, core, environment } = world.device();
    const [first, second] = [await follow(positions), await follow(positions)];
    expect(second.last).toBe(first.last);
    expect(core.begun).toBe(1);
    first.end();
    const heard = first.states.length;
    await moves(second);
    expect(first.states).toHaveLength(heard);
    second.end();
    expect(core.open).toBe(1);
    await eventually(() => core.open === 0);
    await eventually(() => world.proxy.openLines === 0);
    await eventually(() => environment.pending === 0);
  });

  test('that come again go on from the cursor', async () => {
    const { positions, core } = world.device();
    const audience = await follow(positions);
    audience.end();
    await eventually(() => core.open === 0);
    const left = positions.state();
    expect(left).toMatchObject({ status: 'OFFLINE', positions: audience.last?.positions });
    const again = new Audience(positions);
    await agrees(again);
    expect(core.sent.at(-1)).toMatchObject({ after: expect.any(String) });
    expect(again.last?.positions).toBe(left.positions);
  });

  test('get the shortest of their intervals, and no wait where one wants none', async () => {
    const { positions, core } = world.device();
    const audience = new Audience(positions, { intervalMs: 400 });
    await eventually(() => audience.isLive);
    const end = positions(() => {}, { intervalMs: 200 });
    await eventually(() => core.begun === 2);
    const endNone = positions(() => {});
    await eventually(() => core.begun === 3);
    endNone();
    end();
    await eventually(() => core.begun === 4);
    await moves(audience);
    const intervals = core.sent.map((each) => (each as { intervalMs: number | null }).intervalMs);
    expect(intervals).toEqual([400, 200, null, 400]);
    expect(core.open).toBe(1);
    // The socket stays: the new subscription is there before the old one ends.
    expect(world.proxy.upgrades).toBe(1);
    expect(audience.states.filter(({ status }) => status === 'OFFLINE')).toHaveLength(1);
    expect(() => positions(() => {}, { intervalMs: 0 })).toThrow(RangeError);
    expect(() => positions(() => {}, { intervalMs: 15_001 })).toThrow(RangeError);
  });

  test('that throw do not keep the others from hearing', async () => {
    const clock = createScriptedClock(Date.now());
    const { positions } = world.device({ environment: { ...clock, uptime: clock.now } });
    positions(() => {
      throw new Error('a fault of the app');
    });
    const audience = new Audience(positions);
    await eventually(() => audience.states.length > 0);
    await expect(clock.advance(0)).rejects.toThrow('a fault of the app');
    await eventually(() => audience.isLive);
  });
});

describe('a line that is lost', () => {
  test('is replaced, and the list goes on from its cursor', async () => {
    const { positions, core } = world.device();
    const audience = await follow(positions);
    const { positions: shown } = positions.state();
    world.proxy.cut();
    await eventually(() => audience.last?.status === 'OFFLINE');
    expect(audience.last?.positions).toBe(shown);
    await moves(audience);
    expect(core.begun).toBe(1);
    expect(core.sent).toHaveLength(2);
    expect(core.sent[1]).toMatchObject({ after: expect.any(String) });
  });

  test('by a server that starts again gives a new list, in which unchanged rows are the same', async () => {
    const { positions } = world.device();
    const audience = await follow(positions);
    const { positions: shown } = positions.state();
    await world.restart();
    await eventually(() => audience.last?.status === 'OFFLINE');
    await agrees(audience);
    expect(audience.last?.positions).toBe(shown);
    await moves(audience);
  });
});

describe('signing in', () => {
  test('that is over ends it, with the reason, and another account starts from nothing', async () => {
    let email: string | null = 'demo@example.com';
    const token = () => (email === null ? null : world.sandbox.token({ email }));
    const { positions, core, environment } = world.device({ token });
    const audience = await follow(positions);
    email = null;
    world.sandbox.revoke({ login: 700_001 });
    await eventually(() => audience.last?.error?.code === 'SIGNED_OUT');
    expect(audience.last).toMatchObject({ status: 'OFFLINE', positions: [], asOf: null });
    expect(core.open).toBe(0);
    // The listener of the app's life; no timer.
    await eventually(() => environment.pending === 1);
    email = 'pro@example.com';
    await core.tokenChanged();
    await eventually(() => audience.isLive);
    expect(audience.last?.positions).toHaveLength(25);
    expect(core.sent.at(-1)).toMatchObject({ after: null });
    const ids = new Set((await gatewayList(world, 'pro@example.com')).map(({ id }) => id));
    expect(audience.last?.positions.every(({ id }) => ids.has(id))).toBe(true);
  });
});

test('after dispose nothing is left, and a new listener is told so', async () => {
  const { positions, core, environment } = world.device();
  const end = positions(({ error }) => {
    if (error !== null) end();
  });
  const audience = await follow(positions);
  core.dispose();
  expect(audience.last).toMatchObject({ status: 'OFFLINE', error: { code: 'DISPOSED' } });
  expect(core.open).toBe(0);
  await eventually(() => world.proxy.openLines === 0);
  audience.end();
  new Audience(positions).end();
  const late = new Audience(positions);
  await eventually(() => late.last?.error?.code === 'DISPOSED');
  expect(late.last?.error?.retryable).toBe(false);
  await eventually(() => environment.pending === 0);
});

describe('the account', () => {
  const isWhole = (state: AccountState | undefined) =>
    state?.status === 'LIVE' && state.orders !== null && state.session !== null;

  test('has positions, orders and figures of the gateway, over one subscription and lost lines', async () => {
    const { account, core } = world.device();
    const states: AccountState[] = [];
    account((state) => void states.push(state));
    expect(account.state()).toMatchObject({ orders: null, session: null, status: 'OFFLINE' });
    await eventually(() => isWhole(states.at(-1)));
    const shown = account.state();
    expect(shown).toMatchObject({ session: { login: '700001' }, asOf: expect.any(Date) });
    expect(shown.ordersAsOf).toBeInstanceOf(Date);
    world.proxy.cut();
    await eventually(() => states.at(-1)?.status === 'OFFLINE');
    expect(states.at(-1)).toMatchObject({ positions: shown.positions, session: shown.session });
    const input = { ...PENDING, idempotencyKey: 'pending' };
    const { data } = await core.request(PLACE, { input });
    expect(data?.placeOrder?.__typename).toBe('OrderAccepted');
    await eventually(() => account.state().orders?.length === (shown.orders?.length ?? 0) + 1);
    world.sandbox.tick();
    await eventually(async () => {
      expect(prints(account.state().positions)).toBe(prints(await gatewayList(world)));
    });
    expect(core.begun).toBe(1);
    expect(core.sent).toMatchObject([{ after: null }, { after: expect.any(String) }]);
  });

  test("of another login starts from nothing, and nothing of the former one's is shown", async () => {
    let email = 'demo@example.com';
    const { account, core } = world.device({ token: () => world.sandbox.token({ email }) });
    const states: AccountState[] = [];
    account((state) => void states.push(state));
    await eventually(() => isWhole(states.at(-1)));
    email = 'pro@example.com';
    await core.tokenChanged();
    await eventually(() => isWhole(states.at(-1)) && states.at(-1)?.session?.login !== '700001');
    const changed = states.findIndex(({ asOf }, at) => at > 1 && asOf === null);
    expect(states[changed]).toMatchObject({ positions: [], orders: null, session: null });
    const after = states.slice(changed).filter(({ session }) => session !== null);
    expect(after.map(({ session }) => session?.login)).not.toContain('700001');
    expect(after[0]?.positions).toHaveLength(25);
  });
});
