import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { systemClock } from '../../../lib/clock.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { FaultInjector, LATE_MS } from '../../../test/end-to-end/orders/fault-injector.ts';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../test/end-to-end/orders/seeded-random.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../../test/support/facade-process.ts';
import { createScriptedClock, type ScriptedClock } from '../../../test/support/scripted-clock.ts';
import type { Environment } from '../../src/environment.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';
import type { Ticket } from '../../src/orders/ticket.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';
import { CUTS, type OrderLine, startOrderLine } from '../support/order-line.ts';
import { buying, openOrderCore } from '../support/phone.ts';

/**
 * The clients' time moves by so much in each millisecond, so that their ten seconds of patience are half a second. A
 * pause of a busy machine is one step as well: no client comes late for it.
 */
const STEP_MS = 20;
const MARKET_WAIT_MS = 5_000;
/** Shorter than that patience, so that the service says what it does not know. */
const ORDER_TIMEOUT_MS = 400;
/** How many times the tickets, where those do not end in every way. */
const MAX_TIMES = 5;
/** More tickets are placed more at once, of which nearly all wait. */
const atOnce = (tickets: number) => Math.min(20, Math.max(6, Math.ceil(tickets / 50)));
const ORDERS_PER_LIFE = 60;
const BEFORE_TAP_MS = 500;
/** A ticket's wait begins some turns of the event loop behind its tap, in each of which this clock moves a step. */
const BEGIN_MS = 20 * STEP_MS;
/** How often an app is opened again for an order that has no end yet. */
const MAX_RUNS = 20;
const BETWEEN_RUNS_MS = 6_000;

/** A fault of the network that one ticket meets. */
interface RehearsalFault {
  readonly name: string;
  /** Called half a second before the tap. */
  begin(line: OrderLine, random: SeededRandom): void;
}

const STALLS_MS = [5_000, 10_000, 20_000, 40_000];

const FAULTS: readonly RehearsalFault[] = [
  { name: 'none', begin() {} },
  ...CUTS.map((at) => ({
    name: `cut ${at}`,
    begin: ({ next }: OrderLine, random: SeededRandom) => {
      next.push(at);
      if (random.happens(0.3)) next.push(random.pick(CUTS));
    },
  })),
  { name: 'portal', begin: ({ next }) => void next.push('portal', 'portal') },
  ...STALLS_MS.flatMap((stallMs) =>
    [true, false].map((ofAll) => ({
      name: `${ofAll ? 'stall' : 'stalled connection'} of ${stallMs / 1_000} s`,
      begin: ({ next }: OrderLine) => void next.push({ stallMs, ofAll }),
    })),
  ),
  {
    name: 'another address',
    begin: (line, random) => line.changeAddress(5_000 + random.below(35_000)),
  },
];

/** One tap of an order, and its end. */
interface RehearsedTicket {
  readonly comment: string;
  /** The faults it met: of its network, and others. */
  readonly faults: readonly string[];
  readonly end: OrderOutcome;
  /** The outcome that the user saw last, after pressing the button again perhaps. */
  readonly last: OrderOutcome;
  /** How long after its wait its order left, where it did. */
  readonly lateMs: number;
}

interface World {
  readonly clock: ScriptedClock;
  /** The date of the service, whose time is real, at a scripted moment of its clients. */
  realDate(scriptedMs: number): Date;
  readonly sandbox: Sandbox;
  readonly facade: FacadeProcess;
  /** Of all devices, to the end of the rehearsal: what a line held up arrives late. */
  readonly lines: AsyncDisposableStack;
  readonly random: SeededRandom;
  readonly injector: FaultInjector;
  kills: number;
}

/** By then the service's records reach back to a first ticket's key, whose age is not known to the second. */
const RECORDS_REACH_MS = 6_500;

export type OrderService = Awaited<ReturnType<typeof startOrderService>>;

/** The program with its sandbox gateway, once its records reach back to the first key. */
export async function startOrderService() {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'client-orders-')));
  const sandbox = parts.use(await startSandbox({ seed: 'orders', instruments: 40, tickMs: 0 }));
  const facade = parts.use(
    await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      ORDER_STORE: join(folder.path, 'orders.db'),
      ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
      RATE_LIMIT_PER_MINUTE: '10000000',
      LOG_LEVEL: 'info',
    }),
  );
  const startedMs = systemClock.now();
  await eventually(() => systemClock.now() - startedMs > RECORDS_REACH_MS);
  const all = parts.move();
  return { sandbox, facade, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Rewrites the dates in a request of a client with another clock to the service's. */
export function redated(text: string, realDate: (scriptedMs: number) => Date): string {
  return text.replace(
    /"(sendBefore|since|keyMade)":"([^"]+)"/g,
    (_, name, date) => `"${name}":"${realDate(Date.parse(date)).toISOString()}"`,
  );
}

/**
 * Places tickets while the line, the gateway, the service and the app fail at random; then compares the ledgers. It goes
 * on until the tickets have ended in every way.
 */
export async function rehearse(
  tickets: number,
  seed: number,
  isVaried: (counts: RehearsalCounts) => boolean,
) {
  await using service = await startOrderService();
  const { sandbox, facade } = service;
  const clock = createScriptedClock(systemClock.now());
  await using lines = new AsyncDisposableStack();
  const random = createSeededRandom(seed);
  const injector = new FaultInjector(sandbox, random);
  /** How long a step takes at present, which a busy machine makes longer. */
  let stepTakesMs = 1;
  const beganMs = systemClock.now();
  // No key is older than the rehearsal, however long its age in scripted time is taken to be.
  const realDate = (scriptedMs: number) => {
    const agoMs = ((clock.now() - scriptedMs) / STEP_MS) * stepTakesMs;
    return new Date(Math.max(beganMs, systemClock.now() - agoMs));
  };
  const world: World = { sandbox, facade, lines, random, injector, clock, realDate, kills: 0 };
  const ended: RehearsedTicket[] = [];
  let next = 0;
  const counts = () => countEnds(ended, world.kills);
  const goesOn = () => next < tickets || (next < MAX_TIMES * tickets && !isVaried(counts()));
  let isOver = false;
  let isRestarting = false;
  // Lets the clients' time pass while they wait for a service whose time is real, and that starts at once by theirs.
  const passTime = async () => {
    while (!isOver) {
      const beganMs = performance.now();
      await delay(1);
      if (isRestarting) continue;
      await clock.advance(STEP_MS);
      stepTakesMs += (performance.now() - beganMs - stepTakesMs) / 50;
    }
  };
  const passing = passTime();
  try {
    const worker = async () => {
      while (goesOn()) {
        const n = next++;
        if (n % ORDERS_PER_LIFE === ORDERS_PER_LIFE - 1) {
          world.kills += 1;
          isRestarting = true;
          await facade.kill();
          await facade.start();
          isRestarting = false;
        }
        ended.push(await placeOne(world, n));
      }
    };
    await Promise.all(Array.from({ length: atOnce(tickets) }, worker));
    // Orders that the gateway carries out late have to be in its ledger.
    await delay(2 * LATE_MS);
    return { ...counts(), contradictions: contradictionsOf(ended, sandbox) };
  } finally {
    isOver = true;
    await passing;
  }
}

export type RehearsalCounts = ReturnType<typeof countEnds>;

function countEnds(ended: readonly RehearsedTicket[], kills: number) {
  return {
    tickets: ended.length,
    /** How many tickets ended with each status. */
    statuses: countsOf(ended.map(({ end }) => end.status)),
    /** How many ended in a later run of the app than their tap's. */
    resumed: ended.filter(({ faults }) => faults.includes('app killed')).length,
    kills,
  };
}

async function placeOne(world: World, n: number): Promise<RehearsedTicket> {
  const { sandbox, random, injector, clock } = world;
  const comment = `ticket ${n}`;
  // A user of its own, so that no other ticket meets the faults that its gateway was told to have.
  const user = 1 + n;
  const email = `user-${user}@example.com`;
  let token = sandbox.token({ email });
  const storage = createMemoryStorage();
  const device = createRehearsalDevice(world);
  const line = world.lines.use(await startOrderLine(() => world.facade.url, clock));
  const open = () =>
    openOrderCore({
      url: line.url,
      token: () => token,
      renew: () => {
        token = sandbox.token({ email });
      },
      storage,
      environment: device.environment,
    });
  const limit = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment } as const;
  const isLimit = random.happens(0.4);
  const place = (one: Ticket) => (isLimit ? one.placeLimit(limit) : one.place(buying(comment)));
  const pass = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const first = open();
  // Faults are meant for the order, so that the account is known before.
  await first.core.account().catch(() => {});
  // Each fault in turn, so that all of them come as often.
  const fault = FAULTS[n % FAULTS.length];
  const faults = [fault?.name ?? 'none'];
  const isBefore = (name: string, share: number) => {
    const happens = random.happens(share);
    if (happens) faults.push(name);
    return happens;
  };
  fault?.begin(line, random);
  await pass(BEFORE_TAP_MS);
  if (isBefore('gateway', 0.25)) {
    injector.injectNext({ login: 800_000 + user, email, isRefused: random.happens(0.3) });
  }
  const kills = world.kills;
  let tapMs = clock.now();
  const ticket = first.orders.ticket();
  const placing = place(ticket);
  const tapped = random.happens(0.3) ? place(ticket) : placing;
  let lateMs = 0;
  const noteLate = () => {
    if (!isLimit) lateMs = Math.max(lateMs, device.lastOrderMs - tapMs - MARKET_WAIT_MS);
  };
  const isKilled = isBefore('app killed', 0.3);
  if (isKilled) {
    await pass(random.below(2_000));
    first.core.dispose();
  }
  let [outcome] = await Promise.all([placing, tapped]);
  noteLate();
  const again = async (one: Ticket) => {
    // Nothing was sent, so that this tap is the first one.
    if (outcome.status === 'unsent') tapMs = clock.now();
    outcome = await place(one);
    noteLate();
  };
  if (isKilled) {
    for (let run = 0; run < MAX_RUNS && outcome.status === 'unknown'; run += 1) {
      const apps = [open(), open()];
      const ends = await Promise.all(
        apps.map(async ({ orders }) => {
          const [found] = await orders.resume().catch(() => []);
          const isOpen = found?.outcome.status === 'notFound';
          // The form was kept, or is gone, and with it the right to repeat its order.
          if (found && isOpen && (isLimit || random.happens(0.5))) await again(found.ticket);
          return found?.outcome;
        }),
      );
      for (const { core } of apps) core.dispose();
      const end = ends.find((each) => each !== undefined && isEnd(each));
      if (end !== undefined && outcome.status === 'unknown') outcome = end as OrderOutcome;
      if (end !== undefined) break;
      await pass(BETWEEN_RUNS_MS);
    }
  }
  const end = outcome;
  // The user presses the button once more, whatever is said.
  if (!isKilled && random.happens(0.3)) await again(ticket);
  first.core.dispose();
  if (world.kills > kills) faults.push('kill');
  return { comment, faults, end, last: outcome, lateMs };
}

function isEnd({ status }: { readonly status: string }): boolean {
  return status !== 'notFound' && status !== 'unanswered';
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Compares outcomes that clients had with the gateway's book, and lists those that need not have been left open. */
function contradictionsOf(tickets: readonly RehearsedTicket[], sandbox: Sandbox): string[] {
  const applied = countsOf(sandbox.orders().map(({ comment }) => String(comment)));
  return tickets.flatMap((ticket) => {
    const { comment, last, faults, lateMs } = ticket;
    const { status } = last;
    const count = applied[comment] ?? 0;
    const isPossible =
      status === 'accepted' ? count === 1 : status === 'unknown' ? count <= 1 : count === 0;
    const told: string[] = [];
    const which = `${comment} (${faults.join(', ')})`;
    if (!isPossible) told.push(`${which} is ${status}, and was carried out ${count} times`);
    if (lateMs > BEGIN_MS) told.push(`${which} left ${lateMs} ms after its wait`);
    for (const outcome of [ticket.end, last]) {
      if (isExplained(outcome)) continue;
      const reason = outcome.status === 'unknown' ? outcome.error : null;
      told.push(
        `${which} was left unknown: ${reason?.code ?? 'without a reason'} ${reason?.message}`,
      );
    }
    return told;
  });
}

/**
 * Whether an order may stay unknown: the service itself has said so, of a gateway without a clear answer or of a replica that
 * was killed; or nobody could prove whose the key is.
 */
function isExplained(outcome: OrderOutcome): boolean {
  if (outcome.status !== 'unknown') return true;
  return outcome.error === null || outcome.error.code === 'GATEWAY_UNAVAILABLE';
}

/** A phone's environment, and when the last order left it, by the scripted clock. */
function createRehearsalDevice({ clock, realDate }: Pick<World, 'clock' | 'realDate'>) {
  const sent = (text: string) => {
    if (/order: place(?!d)/.test(text)) device.lastOrderMs = clock.now();
    return redated(text, realDate);
  };
  class DeviceSocket extends WebSocket {
    override send(data: string): void {
      super.send(sent(data));
    }
  }
  const environment: Partial<Environment> = {
    fetch: (input, init) => fetch(input, { ...init, body: sent(String(init?.body)) }),
    WebSocket: DeviceSocket as unknown as typeof globalThis.WebSocket,
    now: clock.now,
    uptime: clock.now,
    after: clock.after,
  };
  const device = { lastOrderMs: Number.NEGATIVE_INFINITY, environment };
  return device;
}
