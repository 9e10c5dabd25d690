import { expect } from 'vitest';
import { InputError } from '../../../src/domain/input-error.ts';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import type { SubmitterOptions } from '../../../src/domain/trading/submitter.ts';
import { GatewayError, NotAttemptedError } from '../../../src/gateway/errors.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { OrderEnd } from '../../../src/gateway/order-calls.ts';
import {
  closingOf,
  type OrderRecord,
  type OrderRecords,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import { createMemoryOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { changed } from '../../store/opened-records.ts';
import { accountNamed } from '../../support/accounts.ts';
import { orderEnd } from '../../support/order-end.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import {
  acceptedAs,
  answered,
  countersOf,
  createTestLog,
  demo,
  demoProof,
  notSent,
  ticketOf,
} from './order-stage.ts';

/** The gateway's ways with an order; `refused`: it never gets it. */
export type End = 'accepted' | 'rejected' | 'nothing' | 'paused' | 'refused';

/** After these the gateway has surely not taken the order, and its key is free. */
const FREEING: readonly End[] = ['paused', 'refused'];

export interface Operation {
  readonly do: 'place' | 'void' | 'ask';
  /** The replica that gets it. */
  readonly at: number;
  /** Of another order with the same key. */
  readonly isOther?: boolean;
  /** It has to be sent before the time passes that `expires` lets pass. */
  readonly hasLimit?: boolean;
}

export interface Scenario {
  readonly operations: readonly Operation[];
  readonly ends: readonly End[];
  /** The first replica may die at any time. */
  readonly mayDie?: boolean;
  /** The time limit of orders may pass at any time. */
  readonly expires?: boolean;
  /** So much time may pass that everything which waits gives up. */
  readonly hangs?: boolean;
  /** How often a replica looks again, while things happen elsewhere. */
  readonly polls?: number;
}

/** One run of a scenario, which stands still wherever there is a choice of what happens next. */
export interface Run {
  /** What may happen next, by name and in the same order for the same past; empty: the run is over. */
  actions(): readonly Action[];
  /** Ends what is left, and throws where a rule was broken. */
  finish(): Promise<void>;
}

export interface Action {
  readonly name: string;
  /** Resolves when everything that follows from it has happened. */
  run(): Promise<void>;
}

/** An order that a replica has handed to the wire. */
interface Call {
  readonly replica: number;
  readonly symbol: string;
  readonly sendBeforeMs: number | null;
  readonly answer: (exchange: Exchange) => void;
  isSent: boolean;
  end: End | null;
}

interface Answer {
  readonly operation: Operation;
  readonly result: OrderResult | Error | null;
}

const KEY = 'k';
const ORDER_TIMEOUT_MS = 2_000;
/** Longer than anything waits. */
const HANG_MS = 6_000;
const POLL_MS = 100;
const LIMIT_MS = 50;
const DRAIN_ROUNDS = 200;

/** A request of a replica to the records that has not arrived there yet. */
interface Parked {
  readonly replica: number;
  readonly name: string;
  /** Carries it out; the replica hears of it, or dies first. */
  execute(isHeard: boolean): Promise<void>;
}

/** Two replicas with the same records, which handle requests with one key. */
export function beginRun(scenario: Scenario): Run {
  const { operations, ends } = scenario;
  const clock = createScriptedClock();
  const records = createMemoryOrderRecords({ max: 10, clock, onWarn() {} });
  const parked: Parked[] = [];
  const calls: Call[] = [];
  const answers: Answer[] = [];
  const started = new Set<number>();
  const dead = new Set<number>();
  const madeAtMs = clock.now();
  let polls = scenario.polls ?? 0;
  let mayHang = scenario.hangs ?? false;
  let mayExpire = scenario.expires ?? false;

  function portOf(replica: number): OrderRecords {
    function far<Args extends unknown[], T>(name: string, ask: (...args: Args) => Promise<T>) {
      return (...args: Args) =>
        new Promise<T>((resolve, reject) => {
          if (dead.has(replica)) return;
          const execute = async (isHeard: boolean) => {
            const asking = ask(...args);
            await (isHeard ? asking.then(resolve, reject) : asking.catch(() => {}));
          };
          parked.push({ replica, name: `${replica} ${name}`, execute });
        });
    }
    return changed(records, {
      reserve: far('reserve', (request) => records.reserve(request)),
      settle: far('settle', (reservation, outcome) => records.settle(reservation, outcome)),
      release: far('release', (reservation) => records.release(reservation)),
      find: far('find', (login, ofKey) => records.find(login, ofKey)),
      voidKey: far('void', (request) => records.voidKey(request)),
    });
  }

  function gatewayOf(replica: number): SubmitterOptions['gateway'] {
    return {
      order(_viewer, { order: { symbol }, sendBeforeMs }) {
        const { promise, resolve } = Promise.withResolvers<OrderEnd>();
        calls.push({
          replica,
          symbol,
          sendBeforeMs,
          answer: (exchange) => resolve(orderEnd(exchange)),
          isSent: false,
          end: null,
        });
        return promise;
      },
    };
  }

  const replicas = [0, 1].map((replica) => {
    const log = createTestLog();
    const options = {
      clock,
      log,
      orderTimeoutMs: ORDER_TIMEOUT_MS,
      onAccountChanged() {},
      gatewayAheadMs: () => 0,
      gatewaySkewMs: () => 0,
      orderNumbers: 'order',
      lines: orderLines(null),
      metrics: countersOf(() => {}),
    } as const;
    return new Orders({ ...options, gateway: gatewayOf(replica), records: portOf(replica) });
  });

  function start(n: number, operation: Operation): void {
    started.add(n);
    const replica = replicas[operation.at] as Orders;
    const end = (result: OrderResult | Error | null) => {
      if (!dead.has(operation.at)) answers.push({ operation, result });
    };
    perform(replica, operation).then(end, end);
  }

  function perform(replica: Orders, { do: kind, isOther, hasLimit }: Operation) {
    if (kind === 'ask') return replica.placed(demoProof, KEY);
    if (kind === 'void') return replica.void(demoProof, KEY, madeAtMs);
    const sendBefore = hasLimit ? madeAtMs + LIMIT_MS : undefined;
    const symbol = isOther ? 'MSFT' : 'AAPL';
    return replica.place(demo, demoProof, ticketOf(KEY, symbol, sendBefore));
  }

  /** Puts an order's head onto a socket, as the transport does. */
  function send(call: Call): void {
    if (call.sendBeforeMs !== null && clock.date() > call.sendBeforeMs) {
      calls.splice(calls.indexOf(call), 1);
      call.answer({ sent: false, cause: new NotAttemptedError('expired', 'late') });
    } else call.isSent = true;
  }

  function end(call: Call, as: End): void {
    call.end = as;
    call.answer(EXCHANGES[as]);
  }

  function die(isHeardOf: boolean) {
    return async () => {
      dead.add(0);
      for (const request of parked.filter(({ replica }) => replica === 0)) {
        parked.splice(parked.indexOf(request), 1);
        if (isHeardOf) await request.execute(false);
      }
    };
  }

  const isHeard = ({ operation }: Answer) => !dead.has(operation.at);
  const isAlive = ({ replica }: { readonly replica: number }) => !dead.has(replica);

  function required(): Action[] {
    const starts = operations.flatMap((operation, n) =>
      started.has(n) || dead.has(operation.at)
        ? []
        : [action(`${operation.at} begins to ${operation.do}`, () => start(n, operation))],
    );
    const requests = parked.map((request) =>
      action(request.name, () => {
        parked.splice(parked.indexOf(request), 1);
        return request.execute(true);
      }),
    );
    const steps = calls.filter(isAlive).flatMap((call) => {
      if (call.end !== null) return [];
      const unsent = ends.includes('refused')
        ? [action('cannot be sent', () => end(call, 'refused'))]
        : [];
      if (!call.isSent) return [action('is sent', () => send(call)), ...unsent];
      return ends
        .filter((each) => each !== 'refused')
        .map((each) => action(`is ${each}`, () => end(call, each)));
    });
    return [...starts, ...requests, ...steps];
  }

  function optional(): Action[] {
    const passing = (name: string, ms: number, before: () => void) =>
      action(name, () => {
        before();
        return clock.advance(ms);
      });
    const moment = passing('a moment passes', POLL_MS, () => {
      polls -= 1;
    });
    const limit = passing('its time passes', LIMIT_MS + 1, () => {
      mayExpire = false;
    });
    const hang = passing('much time passes', HANG_MS, () => {
      mayHang = false;
    });
    const deaths = [action('0 dies', die(false)), action('0 dies, its requests arrive', die(true))];
    return [
      ...(polls > 0 && clock.pending > 0 ? [moment] : []),
      ...(mayExpire ? [limit] : []),
      ...(mayHang && calls.length > 0 ? [hang] : []),
      ...(scenario.mayDie && dead.size === 0 ? deaths : []),
    ];
  }

  function action(name: string, run: () => void | Promise<void>): Action {
    return {
      name,
      async run() {
        await run();
        await nothingMoves();
      },
    };
  }

  async function finish(): Promise<void> {
    const expected = operations.filter(({ at }) => !dead.has(at)).length;
    for (let round = 0; round < DRAIN_ROUNDS; round += 1) {
      const [next] = required();
      if (next) await next.run();
      else if (answers.filter(isHeard).length < expected) await clock.advance(POLL_MS);
      else break;
    }
    const final = await records.find(accountNamed(demo.login), KEY);
    assertRules(scenario, answers, calls, final, dead);
  }

  return {
    actions: () => {
      const next = required();
      return next.length === 0 ? [] : [...next, ...optional()];
    },
    finish,
  };
}

const EXCHANGES: Readonly<Record<End, Exchange>> = {
  accepted: acceptedAs('o-1'),
  rejected: answered(422, { err: 'NO' }),
  nothing: answered(500),
  paused: answered(429),
  refused: notSent,
};

/** What one thing sets off may itself wait for an immediate. */
async function nothingMoves(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** The errors that a request may end in; each says that nothing was sent for it. */
function isAllowed(error: unknown): boolean {
  return (
    error instanceof InputError ||
    error instanceof RecordsUnavailableError ||
    (error instanceof GatewayError && ['unavailable', 'rate-limited'].includes(error.kind))
  );
}

function assertRules(
  scenario: Scenario,
  answers: readonly Answer[],
  calls: readonly Call[],
  final: OrderRecord | null,
  dead: ReadonlySet<number>,
): void {
  const living = scenario.operations.filter(({ at }) => !dead.has(at));
  expect(answers.map(({ operation }) => operation)).toEqual(expect.arrayContaining(living));

  // Sent once, and again only after the gateway had surely not taken it.
  const sent = calls.filter(({ isSent }) => isSent);
  const kept = sent.filter(({ end }) => end === null || !FREEING.includes(end));
  expect(kept.length, 'orders that may have been carried out').toBeLessThanOrEqual(1);
  if (kept[0]) expect(sent.at(-1), 'sent after it may have been carried out').toBe(kept[0]);

  const isClosed = final !== null && closingOf(final) !== null;
  if (isClosed) expect(kept, 'sent, and closed').toEqual([]);
  if (kept.length > 0) expect(final, 'sent, and forgotten').not.toBe(null);

  const outcomes = answers.flatMap(({ result }) =>
    isOutcome(result) ? wordOf(result.outcome) : [],
  );
  for (const outcome of outcomes) {
    expect(final, `${outcome}, and forgotten`).not.toBe(null);
    expect(outcome === 'VOIDED', `${outcome}, and closed: ${isClosed}`).toBe(isClosed);
    if (outcome === 'EXPIRED') expect(kept, 'too late, and sent').toEqual([]);
    if (outcome === 'accepted') expect(kept[0]?.end).toBe('accepted');
    if (outcome === 'rejected') expect(kept[0]?.end).toBe('rejected');
  }
  const known = outcomes.filter((outcome) => outcome !== 'unknown');
  if (final?.outcome && final.outcome.kind !== 'unknown') known.push(wordOf(final.outcome));
  expect(new Set(known).size, `${known}`).toBeLessThanOrEqual(1);
  const first = answers.filter(({ result }) => isOutcome(result) && !result.replayed);
  expect(first.length, 'answered as new').toBeLessThanOrEqual(1);

  for (const { operation, result } of answers) {
    if (operation.do === 'void') expect(result, 'the answer to a void').not.toBe(null);
    if (!(result instanceof Error)) continue;
    if (!isAllowed(result)) throw result;
    if (!(result instanceof InputError)) continue;
    const isOfTwo = scenario.operations.some(({ isOther }) => isOther);
    expect(isOfTwo, 'refused as another order').toBe(true);
  }
}

function isOutcome(result: OrderResult | Error | null): result is OrderResult {
  return result !== null && !(result instanceof Error);
}

function wordOf(outcome: NonNullable<OrderRecord['outcome']>): string {
  return outcome.kind === 'rejected' && outcome.sent === false ? `${outcome.error}` : outcome.kind;
}
