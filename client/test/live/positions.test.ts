import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { FollowOptions } from '../../src/live/followed.ts';
import type { Positions } from '../../src/live/positions.ts';
import type { PositionsState } from '../../src/live/states.ts';
import { gatewayList, prints, startLiveWorld } from './live-world.ts';

const world = startedForEach(startLiveWorld);

/** Listens, and keeps all states. */
function listen(positions: Positions, options?: FollowOptions) {
  const states: PositionsState[] = [];
  const end = positions((state) => void states.push(state), options);
  return { states, end, last: () => states.at(-1), isLive: () => states.at(-1)?.status === 'LIVE' };
}

type Audience = ReturnType<typeof listen>;

async function follow(positions: Positions): Promise<Audience> {
  const audience = listen(positions);
  await eventually(audience.isLive);
  return audience;
}

async function agrees(audience: Audience): Promise<void> {
  await eventually(async () => {
    const own = audience.last()?.positions?.map(({ id, profit }) => ({ id, profit })) ?? [];
    expect(prints(own)).toBe(prints(await gatewayList(world)));
    expect(audience.isLive()).toBe(true);
  });
}

/** Moves the market until a listener has got an event. */
async function moves(audience: Audience): Promise<void> {
  const before = audience.last()?.positions;
  world.sandbox.tick();
  await eventually(() => audience.last()?.positions !== before);
  await agrees(audience);
}

describe('listeners', () => {
  test('share a subscription, hear the same object, and leave each by itself', async () => {
    const { positions, core, environment } = world.device();
    const unmounted = listen(positions);
    unmounted.end();
    unmounted.end();
    const [first, second] = [await follow(positions), await follow(positions)];
    expect(second.last()).toBe(first.last());
    expect(core.begun).toBe(1);
    expect(unmounted.states).toEqual([]);
    first.end();
    const heard = first.states.length;
    await moves(second);
    expect(first.states).toHaveLength(heard);
    second.end();
    expect(core.open).toBe(1);
    await eventually(() => expect(core.open).toBe(0));
    await eventually(() => expect(world.proxy.openLines).toBe(0));
    await eventually(() => expect(environment.pending).toBe(0));
  });

  test('get the shortest of their intervals, and no wait where one wants none', async () => {
    const { positions, core } = world.device();
    const audience = listen(positions, { intervalMs: 400 });
    await eventually(audience.isLive);
    const end = positions(() => {}, { intervalMs: 200 });
    await eventually(() => expect(core.begun).toBe(2));
    const endNone = positions(() => {});
    await eventually(() => expect(core.begun).toBe(3));
    endNone();
    end();
    await eventually(() => expect(core.begun).toBe(4));
    await moves(audience);
    const intervals = core.sent.map((each) => (each as { intervalMs: number | null }).intervalMs);
    expect(intervals).toEqual([400, 200, null, 400]);
    expect(core.open).toBe(1);
    // The socket stays: the new subscription is there before the old one ends.
    expect(world.proxy.upgrades).toBe(1);
    expect(audience.states.filter(({ status }) => status !== 'LIVE')).toHaveLength(1);
    expect(() => positions(() => {}, { intervalMs: 0 })).toThrow(RangeError);
    expect(() => positions(() => {}, { intervalMs: 15_001 })).toThrow(RangeError);
  });

  test('that throw do not keep the others from hearing', async () => {
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

test('after dispose nothing is left, and a new listener gets an error', async () => {
  const { positions, core, environment } = world.device();
  const end = positions(({ error }) => {
    if (error !== null) end();
  });
  const audience = await follow(positions);
  core.dispose();
  expect(audience.last()).toMatchObject({ status: 'OFFLINE', error: { code: 'DISPOSED' } });
  expect(core.open).toBe(0);
  await eventually(() => expect(world.proxy.openLines).toBe(0));
  audience.end();
  listen(positions).end();
  const late = listen(positions);
  await eventually(() => expect(late.last()?.error?.code).toBe('DISPOSED'));
  expect(late.last()?.error?.retryable).toBe(false);
  await eventually(() => expect(environment.pending).toBe(0));
});
