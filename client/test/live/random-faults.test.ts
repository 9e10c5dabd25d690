import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSeededRandom } from '../../../test/end-to-end/orders/seeded-random.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { AccountState, PositionsState } from '../../src/live/states.ts';
import { seedsOf } from '../support/seeds.ts';
import { GatewayHistory, shownBy, TRACKS } from './gateway-history.ts';
import { startLiveWorld } from './live-world.ts';

// The full form: LIVE_FAULTS=500 LIVE_SEEDS=1-5 CI=true npm test -- client/test/live/random-faults.test.ts
const FAULTS = Number(process.env.LIVE_FAULTS ?? 60);
const SEEDS = seedsOf(process.env.LIVE_SEEDS ?? '1');
const MS_PER_FAULT = 2_000;

const RUNS = SEEDS.flatMap((seed) => [
  { stream: 'positions', tracks: ['positions'], seed } as const,
  { stream: 'account', tracks: TRACKS, seed } as const,
]);

// Waits dominate, so that the runs go on beside each other.
test.concurrent.each(RUNS)(
  `$stream: after ${FAULTS} random faults of seed $seed all is as the gateway’s, and was at each step`,
  async ({ stream, tracks, seed }) => {
    // What another device orders is seen when the figures are as old as this.
    await using world = await startLiveWorld({ SESSION_MAX_AGE_SECONDS: '1' });
    const random = createSeededRandom(seed);
    let sleptMs = 0;
    const { core, environment, ...device } = world.device({
      token: () =>
        world.sandbox.token({
          email: 'demo@example.com',
          ...(random.happens(0.3) && { expiresInSeconds: 3 }),
        }),
      time: {
        now: () => Date.now() + sleptMs,
        uptime: () => performance.now(),
        after(ms, task) {
          const timer = setTimeout(task, ms);
          return () => clearTimeout(timer);
        },
      },
    });
    const states: (PositionsState | AccountState)[] = [];
    const follow = (options?: { readonly intervalMs: number }) =>
      device[stream]((state: PositionsState | AccountState) => void states.push(state), options);
    const history = new GatewayHistory(world);
    await history.record();
    let end = follow();
    await eventually(() => states.at(-1)?.status === 'LIVE');

    const faults: Record<string, () => unknown> = {
      kill: () => world.proxy.kill(),
      stall: () => world.proxy.stall(),
      sleep: () => {
        world.proxy.stall();
        sleptMs += 60_000;
        environment.hide();
        environment.show();
      },
      repeat: () => world.proxy.repeatNextFrame(),
      swap: () => world.proxy.swapNextFrames(),
      restart: () => world.restart(),
      revoke: () => world.sandbox.revoke({ login: 700_001 }),
      fail: () =>
        world.sandbox.fail({
          operation: random.pick(['getOpenPositions', 'getSession']),
          kind: 'status',
          status: 500,
          times: 2,
        }),
      remount: () => {
        end();
        end = follow({ intervalMs: 1 + random.below(300) });
      },
      leave: async () => {
        end();
        await eventually(() => core.open === 0);
        end = follow();
      },
    };
    const recovers = async () => {
      world.proxy.heal();
      // Without another change it would wait for the heartbeat, which no line does.
      world.proxy.passHeldFrames();
      world.sandbox.clearFaults();
      const gateways = await history.record();
      await eventually(() => {
        const state = device[stream].state();
        const shown = shownBy(state);
        for (const track of tracks) expect(shown[track]).toBe(gateways[track]);
        return state.status === 'LIVE';
      }).catch((error) => {
        console.log(
          `${stream}, seed ${seed}: the last of ${trail.length} faults`,
          trail.slice(-20),
        );
        console.log(device[stream].state(), states.slice(-5));
        throw error;
      });
      trail.push('recovered');
    };
    const trail: string[] = [];
    const counts = new Map<string, number>();
    for (let fault = 0; fault < FAULTS; fault += 1) {
      const name = random.pick(Object.keys(faults));
      counts.set(name, (counts.get(name) ?? 0) + 1);
      trail.push(name);
      await faults[name]?.();
      for (let change = random.below(3); change > 0; change -= 1) await history.change(random);
      // Anything from the midst of a reconnect to a line that is whole again.
      await delay(random.below(200));
      world.proxy.heal();
      if (random.happens(0.4)) await recovers();
    }
    await recovers();
    const resumed = core.sent.filter((each) => (each as { after: string | null }).after !== null);
    console.log(
      `${stream}, seed ${seed}: ${states.length} states of ${history.length}, ${core.sent.length} subscriptions, ${resumed.length} with a cursor:`,
      Object.fromEntries(counts),
    );
    for (const track of tracks) {
      const shown = states.map((state) => shownBy(state)[track]).filter((text) => text !== null);
      const places = history.places(track, shown);
      const strange = new Set(shown.filter((_, at) => places[at] === -1));
      console.log(`  ${track}: ${new Set(shown).size} shown, ${strange.size} strange`);
      // After a swap the later event is shown until the earlier one arrives; no real line swaps events.
      expect(strange.size).toBeLessThanOrEqual(counts.get('swap') ?? 0);
      expect(new Set(shown).size).toBeGreaterThan(FAULTS / (track === 'positions' ? 6 : 20));
    }
    expect(counts.size).toBe(Object.keys(faults).length);
    core.dispose();
    expect(core.open).toBe(0);
    await eventually(() => environment.pending === 0);
  },
  60_000 + FAULTS * MS_PER_FAULT,
);
