import { describe, expect, onTestFinished, test } from 'vitest';
import { seriesValue } from '../../../test/end-to-end/operations/scraped.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { Core } from '../../src/core.ts';
import type { FollowOptions } from '../../src/live/followed.ts';
import { createPositions, type Positions } from '../../src/live/positions.ts';
import type { PositionsState } from '../../src/live/states.ts';
import { startCore } from '../support/client.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { startCutProxy } from '../support/cut-proxy.ts';

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const proxy = startedForEach(() => startCutProxy(app.url));

/** A device behind the proxy. It counts the subscriptions that its core holds, and records the variables that were sent. */
function openDevice(changed?: CountedEnvironmentOptions) {
  const environment = countedEnvironment(changed);
  const core = startCore({ url: proxy.url, sandbox: app.sandbox }, { environment });
  onTestFinished(() => core.dispose());
  const counts = { open: 0, sent: [] as { intervalMs?: number | null }[] };
  const { subscribe } = core;
  const counted: Core['subscribe'] = (operation, variables, sink) => {
    counts.open += 1;
    const recorded = () => {
      const present = variables();
      counts.sent.push(present as object);
      return present;
    };
    const end = subscribe(operation, recorded, sink);
    return () => {
      counts.open -= 1;
      end();
    };
  };
  Object.assign(core, { subscribe: counted });
  return { environment, core, counts, positions: createPositions(core) };
}

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

/** Waits until the listener has the list of a query. */
async function agrees(listener: Listener): Promise<void> {
  await eventually(async () => {
    const own = listener.last()?.positions?.map(({ id, profit }) => ({ id, profit }));
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { data } = await app.query('{ positions { id profit } }', { token });
    expect(own).toEqual(data.positions);
    expect(listener.isLive()).toBe(true);
  });
}

/** Moves the market, and waits until the listener has the new list. */
async function moves(listener: Listener): Promise<void> {
  const before = listener.last()?.positions;
  app.sandbox.tick();
  await eventually(() => listener.last()?.positions !== before);
  await agrees(listener);
}

describe('listeners', () => {
  test('share a subscription and get the same object, and each can leave alone', async () => {
    const { positions, counts, environment } = openDevice();
    const unmounted = listen(positions);
    unmounted.end();
    unmounted.end();
    const [first, second] = [await follow(positions), await follow(positions)];
    expect(second.last()).toBe(first.last());
    expect(counts.sent).toHaveLength(1);
    expect(unmounted.states).toEqual([]);
    first.end();
    const received = first.states.length;
    await moves(second);
    expect(first.states).toHaveLength(received);
    second.end();
    expect(counts.open).toBe(1);
    await eventually(() => expect(counts.open).toBe(0));
    await eventually(() => expect(proxy.openWebSockets).toBe(0));
    await eventually(() => expect(environment.pending).toBe(0));
  });

  test('share the shortest of their intervals, and get each change if one of them has no interval', async () => {
    const { positions, counts } = openDevice();
    const listener = listen(positions, { intervalMs: 400 });
    await eventually(listener.isLive);
    const end = positions(() => {}, { intervalMs: 200 });
    await eventually(() => expect(counts.sent).toHaveLength(2));
    const endNone = positions(() => {});
    await eventually(() => expect(counts.sent).toHaveLength(3));
    endNone();
    end();
    await eventually(() => expect(counts.sent).toHaveLength(4));
    await moves(listener);
    const intervals = counts.sent.map(({ intervalMs }) => intervalMs);
    expect(intervals).toEqual([400, 200, null, 400]);
    expect(counts.open).toBe(1);
    await eventually(async () => expect(await seriesValue(app, 'subscriptions')).toBe(1));
    // The socket stays open, because the new subscription begins before the old one ends.
    expect(proxy.upgrades).toBe(1);
    expect(listener.states.filter(({ status }) => status !== 'LIVE')).toHaveLength(1);
    expect(() => positions(() => {}, { intervalMs: 0 })).toThrow(RangeError);
    expect(() => positions(() => {}, { intervalMs: 15_001 })).toThrow(RangeError);
  });

  test('are called even if another listener throws', async () => {
    const thrown: unknown[] = [];
    const { positions } = openDevice({ thrown });
    const fault = new Error('a fault of the app');
    positions(() => {
      throw fault;
    });
    await follow(positions);
    expect(thrown).toContain(fault);
  });
});

test('`dispose` ends subscriptions, connections and timers, and a later listener gets an error', async () => {
  const { positions, core, environment } = openDevice();
  const end = positions(({ error }) => {
    if (error !== null) end();
  });
  const listener = await follow(positions);
  core.dispose();
  expect(listener.last()).toMatchObject({ status: 'OFFLINE', error: { code: 'DISPOSED' } });
  await eventually(() => expect(proxy.openWebSockets).toBe(0));
  listener.end();
  listen(positions).end();
  const late = listen(positions);
  await eventually(() => expect(late.last()?.error?.code).toBe('DISPOSED'));
  expect(late.last()?.error?.retryable).toBe(false);
  await eventually(() => expect(environment.pending).toBe(0));
});
