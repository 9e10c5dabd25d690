import { describe, expect, test } from 'vitest';
import { seriesValue } from '../../../test/end-to-end/operations/scraped.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { FollowOptions } from '../../src/live/followed.ts';
import type { Positions } from '../../src/live/positions.ts';
import type { PositionsState } from '../../src/live/states.ts';
import { gatewayList, startLiveWorld, textOf } from './live-world.ts';

const world = startedForEach(startLiveWorld);

/** Adds a listener that collects all states. */
function listen(positions: Positions, options?: FollowOptions) {
  const states: PositionsState[] = [];
  const end = positions((state) => void states.push(state), options);
  return { states, end, last: () => states.at(-1), isLive: () => states.at(-1)?.status === 'LIVE' };
}

type Listener = ReturnType<typeof listen>;

async function follow(positions: Positions): Promise<Listener> {
  const listener = listen(positions);
  await eventually(listener.isLive);
  return listener;
}

/** Waits until the listener has the gateway's list. */
async function agrees(listener: Listener): Promise<void> {
  await eventually(async () => {
    const own = listener.last()?.positions?.map(({ id, profit }) => ({ id, profit })) ?? [];
    expect(textOf(own)).toBe(textOf(await gatewayList(world)));
    expect(listener.isLive()).toBe(true);
  });
}

/** Moves the market, and waits until the listener has the new list. */
async function moves(listener: Listener): Promise<void> {
  const before = listener.last()?.positions;
  world.sandbox.tick();
  await eventually(() => listener.last()?.positions !== before);
  await agrees(listener);
}

describe('listeners', () => {
  test('share a subscription and get the same object, and each can leave alone', async () => {
    const { positions, core, environment } = world.device();
    const unmounted = listen(positions);
    unmounted.end();
    unmounted.end();
    const [first, second] = [await follow(positions), await follow(positions)];
    expect(second.last()).toBe(first.last());
    expect(core.begun).toBe(1);
    expect(unmounted.states).toEqual([]);
    first.end();
    const received = first.states.length;
    await moves(second);
    expect(first.states).toHaveLength(received);
    second.end();
    expect(core.open).toBe(1);
    await eventually(() => expect(core.open).toBe(0));
    await eventually(() => expect(world.proxy.openWebSockets).toBe(0));
    await eventually(() => expect(environment.pending).toBe(0));
  });

  test('share the shortest of their intervals, and get each change if one of them has no interval', async () => {
    const { positions, core } = world.device();
    const listener = listen(positions, { intervalMs: 400 });
    await eventually(listener.isLive);
    const end = positions(() => {}, { intervalMs: 200 });
    await eventually(() => expect(core.begun).toBe(2));
    const endNone = positions(() => {});
    await eventually(() => expect(core.begun).toBe(3));
    endNone();
    end();
    await eventually(() => expect(core.begun).toBe(4));
    await moves(listener);
    const intervals = core.sent.map((each) => (each as { intervalMs: number | null }).intervalMs);
    expect(intervals).toEqual([400, 200, null, 400]);
    expect(core.open).toBe(1);
    await eventually(async () => expect(await seriesValue(world.witness, 'subscriptions')).toBe(1));
    // The socket stays open, because the new subscription begins before the old one ends.
    expect(world.proxy.upgrades).toBe(1);
    expect(listener.states.filter(({ status }) => status !== 'LIVE')).toHaveLength(1);
    expect(() => positions(() => {}, { intervalMs: 0 })).toThrow(RangeError);
    expect(() => positions(() => {}, { intervalMs: 15_001 })).toThrow(RangeError);
  });

  test('are called even if another listener throws', async () => {
    const thrown: unknown[] = [];
    const { positions } = world.device({ environment: { thrown } });
    const fault = new Error('a fault of the app');
    positions(() => {
      throw fault;
    });
    await follow(positions);
    expect(thrown).toContain(fault);
  });
});

test('`dispose` ends subscriptions, connections and timers, and a later listener gets an error', async () => {
  const { positions, core, environment } = world.device();
  const end = positions(({ error }) => {
    if (error !== null) end();
  });
  const listener = await follow(positions);
  core.dispose();
  expect(listener.last()).toMatchObject({ status: 'OFFLINE', error: { code: 'DISPOSED' } });
  expect(core.open).toBe(0);
  await eventually(() => expect(world.proxy.openWebSockets).toBe(0));
  listener.end();
  listen(positions).end();
  const late = listen(positions);
  await eventually(() => expect(late.last()?.error?.code).toBe('DISPOSED'));
  expect(late.last()?.error?.retryable).toBe(false);
  await eventually(() => expect(environment.pending).toBe(0));
});
