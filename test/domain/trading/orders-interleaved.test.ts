import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderGateway } from '../../../src/domain/trading/submitter.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { createMemoryOrderRecords } from '../../../src/store/memory/order-records.ts';
import { type OrderRecords, RecordsUnavailableError } from '../../../src/store/order-records.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';
import {
  acceptedAs,
  answered,
  createTestLog,
  notSent,
  proofOf,
  ticketOf,
  viewerOf,
} from './order-stage.ts';

interface Call {
  readonly key: string;
  readonly symbol: string;
  readonly orderId: string;
  endedAtMs: number;
  readonly startedAtMs: number;
  readonly ending: string;
}

const viewers = [viewerOf('token-1'), viewerOf('token-2')];
const proof = proofOf(viewerOf('token-1'));
const orderTimeoutMs = 2_000;
/** Endings after which the gateway has surely not taken the order. */
const REFUSED = ['notSent', 'status 401', 'status 403', 'status 429'];

/** A small seeded generator: every delay, fault and ending of one run follows from its seed. */
function createRandom(seed: number) {
  let state = seed | 1;
  return (below: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return (state >>> 0) % below;
  };
}
type Random = ReturnType<typeof createRandom>;

const never = () => new Promise<never>(() => {});
const wait = (clock: ScriptedClock, ms: number) =>
  new Promise<void>((resolve) => clock.after(ms, resolve));

/** A process whose store is slow and unreliable, and which stops when it is killed. */
function startProcess(shared: OrderRecords, clock: ScriptedClock, random: Random, calls: Call[]) {
  let dead = false;
  async function far<T>(run: () => Promise<T>): Promise<T> {
    await wait(clock, random(200));
    if (dead) return never();
    const fault = random(20);
    if (fault === 0) throw new RecordsUnavailableError('the request was lost');
    const result = await run();
    await wait(clock, random(200));
    if (dead) return never();
    if (fault === 1) throw new RecordsUnavailableError('the answer was lost');
    return result;
  }
  const records: OrderRecords = {
    ...shared,
    reserve: (request) => far(() => shared.reserve(request)),
    settle: (...args) => far(() => shared.settle(...args)),
    release: (reservation) => far(() => shared.release(reservation)),
    find: (login, key) => far(() => shared.find(login, key)),
  };
  async function send(key: string, symbol: string): Promise<Exchange> {
    if (dead) return never();
    const orderId = `o-${calls.length}`;
    const endings: [string, Exchange][] = [
      ['accepted', acceptedAs(orderId)],
      ['accepted', acceptedAs(orderId)],
      ['rejected', answered(400)],
      ['nothing', answered(200)],
      ['status 401', answered(401)],
      ['status 403', answered(403)],
      ['status 429', answered(429)],
      ['notSent', notSent],
    ];
    const [ending, exchange] = endings[random(endings.length)] ?? ['notSent', notSent];
    const call = { key, symbol, orderId, startedAtMs: clock.now(), endedAtMs: Infinity, ending };
    calls.push(call);
    // A delay is at times longer than any deadline: then the answer comes late.
    await wait(clock, random(random(5) === 0 ? 5_000 : 1_500));
    call.endedAtMs = clock.now();
    return dead ? never() : exchange;
  }
  const gateway: OrderGateway = {
    openPosition: (_viewer, order) => send(order.comment ?? '', order.symbol),
    placeLimitOrder: () => Promise.reject(new Error('not used here')),
  };
  const log = createTestLog();
  const orders = new Orders({
    gateway,
    records,
    clock,
    orderTimeoutMs,
    onAccountChanged() {},
    log,
  });
  const kill = () => {
    dead = true;
  };
  return { orders, kill };
}

function ticket(key: string, symbol: string) {
  const plain = ticketOf(key, symbol);
  // The gateway does not see the key, so the comment carries it to the test's own ledger.
  return { ...plain, order: { ...plain.order, comment: key } } as typeof plain;
}

interface Answer {
  readonly key: string;
  readonly symbol: string;
  readonly outcome: string;
  readonly orderId: string | null;
  readonly replayed: boolean;
}

async function run(seed: number) {
  const random = createRandom(seed);
  const clock = createScriptedClock();
  const calls: Call[] = [];
  const answers: Answer[] = [];
  const uptimeMs = () => clock.now();
  const shared = createMemoryOrderRecords({ max: 1_000, uptimeMs });
  const start = () => startProcess(shared, clock, random, calls);
  const processes = [start(), start(), start()];

  for (let step = 0; step < 30; step += 1) {
    const at = random(processes.length);
    const key = `k${random(4)}`;
    const symbol = random(6) === 0 ? 'MSFT' : 'AAPL';
    const { orders, kill } = processes[at] ?? start();
    const viewer = viewers[random(2)] ?? viewerOf('token-1');
    if (random(10) === 0) {
      kill();
      processes[at] = start();
    } else if (random(6) === 0) {
      orders.placed(proof, key).catch(() => {});
    } else {
      orders.place(viewer, proof, ticket(key, symbol)).then(
        ({ outcome, replayed }) => {
          const orderId = outcome.outcome === 'accepted' ? outcome.orderId : null;
          answers.push({ key, symbol, outcome: outcome.outcome, orderId, replayed });
        },
        () => {},
      );
    }
    await clock.advance(random(800));
  }
  await clock.advance(60_000);
  return { calls, answers };
}

test('however processes, faults and repeats interleave, a key is sent again only after a refusal', async () => {
  let sent = 0;
  let repeated = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const { calls, answers } = await run(seed);
      sent += calls.length;
      for (const [key, ofKey] of Map.groupBy(calls, ({ key }) => key)) {
        for (const [index, call] of ofKey.slice(0, -1).entries()) {
          repeated += 1;
          const next = ofKey[index + 1];
          expect(REFUSED, `${key} was sent again after ${call.ending}`).toContain(call.ending);
          expect(next?.startedAtMs).toBeGreaterThanOrEqual(call.endedAtMs);
        }
      }
      for (const [key, ofKey] of Map.groupBy(answers, ({ key }) => key)) {
        const taken = calls.find((call) => call.key === key && !REFUSED.includes(call.ending));
        expect(ofKey.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
        for (const { symbol, outcome, orderId } of ofKey) {
          // Unknown may be the outcome of anything; any other outcome must be the gateway's own.
          if (outcome === 'unknown') continue;
          expect(taken).toMatchObject({ symbol, ending: outcome });
          if (outcome === 'accepted') expect(orderId).toBe(taken?.orderId);
        }
      }
    }),
    { numRuns: 500 },
  );
  // The runs have to cover enough of the cases they are about.
  expect(sent).toBeGreaterThan(500);
  expect(repeated).toBeGreaterThan(50);
}, 600_000);
