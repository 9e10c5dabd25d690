import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { FaultInjector, LATE_MS } from '../../../test/end-to-end/orders/fault-injector.ts';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../test/end-to-end/orders/seeded-random.ts';
import { startFacadeProcess } from '../../../test/support/facade-process.ts';
import { createScriptedClock, type ScriptedClock } from '../../../test/support/scripted-clock.ts';
import type { Environment } from '../../src/environment.ts';
import { createOrders } from '../../src/orders/create-orders.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';
import type { Ticket } from '../../src/orders/ticket.ts';
import { type FaultyLine, type LineFault, startFaultyLine } from '../support/faulty-line.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';
import { openOrderCore } from '../support/order-core.ts';
import { buying } from '../support/phone.ts';

/**
 * The clients' time moves by so much in each millisecond, so that their ten seconds of patience are half a second. A
 * pause of a busy machine is one step as well: no client comes late for it.
 */
const STEP_MS = 20;
const MARKET_WAIT_MS = 5_000;
/** Shorter than that patience, so that the service says what it does not know. */
const ORDER_TIMEOUT_MS = 400;
const USERS = 12;
/** How many times the tickets, where those do not end in every way. */
const MOST_TIMES = 5;
const AT_ONCE = 6;
const ORDERS_PER_LIFE = 60;
const LINE_FAULTS: readonly LineFault[] = ['lost', 'answer-lost', 'cut', 'silent', 'portal'];

export interface RehearsalReport extends RehearsalCounts {
  /** Where what a client was told is not what the gateway did. */
  readonly contradictions: readonly string[];
}

export interface RehearsalCounts {
  /** How many tickets ended with each status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** How many tickets were placed once more after a restart of the app. */
  readonly resumed: number;
  readonly kills: number;
  /** How many tickets were placed on a phone that lost its network meanwhile. */
  readonly offline: number;
}

interface World {
  readonly sandbox: Sandbox;
  readonly line: FaultyLine;
  readonly random: SeededRandom;
  readonly injector: FaultInjector;
  readonly clock: ScriptedClock;
}

/**
 * Places tickets while the line, the gateway, the service and the app fail at random; then compares the ledgers. It goes
 * on until the tickets have ended in every way.
 */
export async function rehearse(
  tickets: number,
  seed: number,
  isVaried: (report: RehearsalCounts) => boolean,
): Promise<RehearsalReport> {
  const folder = await mkdtemp(join(tmpdir(), 'client-orders-'));
  const sandbox = await startSandbox({ seed: 'orders', instruments: 40, tickMs: 0 });
  const facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: join(folder, 'orders.db'),
    ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
    RATE_LIMIT_PER_MINUTE: '10000000',
    LOG_LEVEL: 'info',
  });
  const line = await startFaultyLine(() => facade.url);
  const random = createSeededRandom(seed);
  const clock = createScriptedClock(Date.now());
  const world = { sandbox, line, random, injector: new FaultInjector(sandbox, random), clock };
  const ends = new Map<string, OrderOutcome>();
  let resumed = 0;
  let kills = 0;
  let offline = 0;
  const late: string[] = [];
  let next = 0;
  const counts = () => ({ statuses: countStatuses(ends), resumed, kills, offline });
  const goesOn = () => next < tickets || (next < MOST_TIMES * tickets && !isVaried(counts()));
  let isOver = false;
  const passing = passTime(clock, () => isOver);
  try {
    const worker = async () => {
      while (goesOn()) {
        const n = next++;
        if (n % ORDERS_PER_LIFE === ORDERS_PER_LIFE - 1) {
          kills += 1;
          await facade.kill();
          await facade.start();
        }
        const { outcome, wasResumed, wasOffline, lateMs } = await placeOne(world, `ticket ${n}`);
        ends.set(`ticket ${n}`, outcome);
        if (wasResumed) resumed += 1;
        if (wasOffline) offline += 1;
        if (lateMs > 0) late.push(`ticket ${n} left ${lateMs} ms after its wait`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    // Orders that the gateway carries out late have to be in its ledger.
    await delay(2 * LATE_MS);
    return { ...counts(), contradictions: [...compare(ends, sandbox), ...late] };
  } finally {
    isOver = true;
    await passing;
    await line[Symbol.asyncDispose]();
    await facade[Symbol.asyncDispose]();
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}

async function placeOne({ sandbox, line, random, injector, clock }: World, comment: string) {
  const user = 1 + random.below(USERS);
  const email = `user-${user}@example.com`;
  let token = sandbox.token({ email });
  const storage = createMemoryStorage();
  const device = new Device();
  const open = () => {
    const { core } = openOrderCore({
      url: line.url,
      token: () => token,
      renew: () => {
        token = sandbox.token({ email });
      },
      storage,
      environment: environmentOf(device, clock),
    });
    return { core, orders: createOrders(core) };
  };
  const limit = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment } as const;
  const isLimit = random.happens(0.4);
  let tapMs = Number.POSITIVE_INFINITY;
  let wasUnsent = true;
  const place = async (one: Ticket) => {
    // The wait of an order begins with the tap after which it may leave.
    if (wasUnsent) tapMs = clock.now();
    wasUnsent = false;
    const placed = await (isLimit ? one.placeLimit(limit) : one.place(buying(comment)));
    wasUnsent = placed.status === 'unsent';
    return placed;
  };
  const first = open();
  // Faults are meant for the order, so that the account is known before.
  await first.core.account().catch(() => {});
  if (random.happens(0.5)) line.next.push(random.pick(LINE_FAULTS));
  if (random.happens(0.2)) line.next.push(random.pick(LINE_FAULTS));
  if (random.happens(0.4)) {
    injector.injectNext({ login: 800_000 + user, email, isRefused: random.happens(0.3) });
  }
  const wasOffline = random.happens(0.3);
  if (wasOffline) {
    const [fromMs, forMs] = [random.below(2_400) - 800, random.below(10_000)];
    const goOffline = () => {
      device.isOnline = false;
      clock.after(forMs, () => {
        device.isOnline = true;
      });
    };
    if (fromMs <= 0) goOffline();
    else clock.after(fromMs, goOffline);
  }
  device.onMutation = () => {
    device.latestMs = Math.max(device.latestMs, clock.now() - tapMs);
  };
  const ticket = first.orders.ticket();
  const placing = place(ticket);
  const tapped = random.happens(0.3) ? place(ticket) : placing;
  const lateMs = () => (isLimit ? 0 : Math.max(0, device.latestMs - MARKET_WAIT_MS));
  const isKilled = random.happens(0.3);
  if (isKilled) {
    await new Promise<void>((resolve) => clock.after(random.below(2_000), resolve));
    first.core.dispose();
  }
  let [outcome] = await Promise.all([placing, tapped]);
  if (!isKilled) {
    // The user presses the button once more, whatever is said.
    if (random.happens(0.5)) outcome = await place(ticket);
    first.core.dispose();
    return { outcome, wasResumed: false, wasOffline, lateMs: lateMs() };
  }
  const [one, other] = [open(), open()];
  const [found] = await one.orders.resume().catch(() => []);
  const [seen] = await other.orders.resume().catch(() => []);
  const again = await Promise.all([found && place(found.ticket), seen && place(seen.ticket)]);
  outcome = again.findLast((each) => each !== undefined) ?? outcome;
  for (const { core } of [one, other]) core.dispose();
  return { outcome, wasResumed: found !== undefined, wasOffline, lateMs: lateMs() };
}

/** A phone whose network goes and comes back. */
class Device {
  isOnline = true;
  /** How long after its tap the last mutation left. */
  latestMs = 0;
  onMutation = (): void => {};
}

/** Lets the clients' time pass while they wait for a service whose time is real. */
async function passTime(clock: ScriptedClock, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await delay(1);
    await clock.advance(STEP_MS);
  }
}

function environmentOf(device: Device, clock: ScriptedClock): Partial<Environment> {
  return {
    fetch: (input, init) => {
      if (String(init?.body).includes('mutation')) device.onMutation();
      // A browser says no more than this, whatever the reason.
      if (!device.isOnline) return Promise.reject(new TypeError('Failed to fetch'));
      return fetch(input, init);
    },
    lifecycle: {
      isVisible: true,
      get isOnline() {
        return device.isOnline;
      },
      onReturn: () => () => {},
      onHide: () => () => {},
    },
    now: clock.now,
    uptime: clock.now,
    after: clock.after,
  };
}

function countStatuses(ends: ReadonlyMap<string, OrderOutcome>): Map<string, number> {
  const statuses = new Map<string, number>();
  for (const { status } of ends.values()) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return statuses;
}

function compare(ends: ReadonlyMap<string, OrderOutcome>, sandbox: Sandbox): string[] {
  const applied = new Map<string, number>();
  for (const { comment } of sandbox.orders()) {
    applied.set(String(comment), (applied.get(String(comment)) ?? 0) + 1);
  }
  return [...ends].flatMap(([comment, { status }]) => {
    const count = applied.get(comment) ?? 0;
    const isPossible =
      status === 'accepted' ? count === 1 : status === 'unknown' ? count <= 1 : count === 0;
    return isPossible ? [] : [`${comment} is ${status}, and was carried out ${count} times`];
  });
}
