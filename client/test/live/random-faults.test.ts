import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../test/end-to-end/orders/seeded-random.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { PositionsState } from '../../src/live/positions-state.ts';
import { Audience, gatewayList, type LiveWorld, prints, startLiveWorld } from './live-world.ts';

// The full form: LIVE_FAULTS=1000 LIVE_SEED=7 npm test -- client/test/live/random-faults.test.ts
const FAULTS = Number(process.env.LIVE_FAULTS ?? 60);
const SEED = Number(process.env.LIVE_SEED ?? 1);
const MS_PER_FAULT = 2_000;

/** Every list that the gateway has had, one after the other. */
class GatewayHistory {
  readonly #world: LiveWorld;
  readonly #lists: string[] = [];
  #orders = 0;

  constructor(world: LiveWorld) {
    this.#world = world;
  }

  async record(): Promise<string> {
    const list = prints(await gatewayList(this.#world));
    if (list !== this.#lists.at(-1)) this.#lists.push(list);
    return list;
  }

  /** Moves prices, opens a position, or closes those that are opened here. */
  async change(random: SeededRandom): Promise<void> {
    const { sandbox } = this.#world;
    const kind = random.pick(['tick', 'tick', 'open', 'close'] as const);
    if (kind === 'open') await this.#placeOrder();
    else if (kind === 'close') {
      sandbox.putPrice('MSFT', 10_000);
      await this.record();
      sandbox.putPrice('MSFT', 400);
    } else sandbox.tick();
    await this.record();
  }

  async #placeOrder(): Promise<void> {
    const { witness, sandbox } = this.#world;
    this.#orders += 1;
    const { errors } = await witness.query(
      `mutation ($key: String!) { placeOrder(input: {
        symbol: "MSFT", side: BUY, size: { units: 1 }, takeProfit: { price: 9000 }, idempotencyKey: $key
      }) { __typename } }`,
      {
        token: sandbox.token({ email: 'demo@example.com' }),
        variables: { key: `order ${this.#orders}` },
      },
    );
    expect(errors).toEqual([]);
  }

  /** The places of the shown lists; each is searched from the one before it on. */
  places(shown: readonly string[]): number[] {
    let from = 0;
    return shown.map((list) => {
      const place = this.#lists.indexOf(list, from);
      if (place >= 0) from = place;
      return place;
    });
  }

  get length(): number {
    return this.#lists.length;
  }
}

function printOf({ positions }: PositionsState): string {
  return prints(positions);
}

test(
  `after ${FAULTS} random faults the list is the gateway’s, and was at each step`,
  async () => {
    await using world = await startLiveWorld();
    const random = createSeededRandom(SEED);
    let sleptMs = 0;
    const { positions, core, environment } = world.device({
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
    const history = new GatewayHistory(world);
    await history.record();
    const audience = new Audience();
    let end = positions(audience.listener);
    await eventually(() => audience.isLive);

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
          operation: 'getOpenPositions',
          kind: 'status',
          status: 500,
          times: 2,
        }),
      remount: () => {
        end();
        end = positions(audience.listener, { intervalMs: 1 + random.below(300) });
      },
      leave: async () => {
        end();
        await eventually(() => core.open === 0);
        end = positions(audience.listener);
      },
    };
    const recovers = async () => {
      world.proxy.heal();
      world.sandbox.clearFaults();
      const list = await history.record();
      await eventually(() => {
        expect(printOf(positions.state())).toBe(list);
        return audience.isLive;
      });
    };
    const counts = new Map<string, number>();
    for (let fault = 0; fault < FAULTS; fault += 1) {
      const name = random.pick(Object.keys(faults));
      counts.set(name, (counts.get(name) ?? 0) + 1);
      await faults[name]?.();
      for (let change = random.below(3); change > 0; change -= 1) await history.change(random);
      // Anything from the midst of a reconnect to a line that is whole again.
      await delay(random.below(200));
      world.proxy.heal();
      if (random.happens(0.4)) await recovers();
    }
    await recovers();
    const shown = audience.states.filter(({ totals }) => totals !== null).map(printOf);
    const places = history.places(shown);
    const strange = new Set(shown.filter((_, at) => places[at] === -1));
    // After a swap the later event's list is shown until the earlier one arrives; no real line swaps events.
    expect(strange.size).toBeLessThanOrEqual(counts.get('swap') ?? 0);
    expect(new Set(shown).size).toBeGreaterThan(FAULTS / 6);
    expect(counts.size).toBe(Object.keys(faults).length);
    const resumed = core.sent.filter((each) => (each as { after: string | null }).after !== null);
    console.log(
      `${audience.states.length} states, ${new Set(shown).size} of ${history.length} lists, ${strange.size} strange, ${core.sent.length} subscriptions, ${resumed.length} with a cursor:`,
      Object.fromEntries(counts),
    );
    core.dispose();
    expect(core.open).toBe(0);
    await eventually(() => environment.pending === 0);
  },
  60_000 + FAULTS * MS_PER_FAULT,
);
