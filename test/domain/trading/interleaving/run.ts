import { InputError } from '../../../../src/domain/input-error.ts';
import { Orders, type Placed } from '../../../../src/domain/trading/orders.ts';
import type { SubmitterOptions } from '../../../../src/domain/trading/submitter.ts';
import { GatewayError, NotAttemptedError } from '../../../../src/gateway/errors.ts';
import type { Exchange } from '../../../../src/gateway/exchange.ts';
import { createMemoryOrderRecords } from '../../../../src/store/memory/order-records.ts';
import { type OrderRecords, RecordsUnavailableError } from '../../../../src/store/order-records.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';
import {
  acceptedAs,
  answered,
  createTestLog,
  demo,
  demoProof,
  notSent,
  ticketOf,
} from '../order-stage.ts';
import type { Action, Run } from './explore.ts';
import { type Answer, assertRules, type Call } from './rules.ts';
import type { End, Operation, Scenario } from './scenario.ts';

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
  const records = createMemoryOrderRecords({ max: 10, uptimeMs: () => clock.now() });
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
    return {
      ...records,
      reserve: far('reserve', (request) => records.reserve(request)),
      settle: far('settle', (reservation, outcome) => records.settle(reservation, outcome)),
      release: far('release', (reservation) => records.release(reservation)),
      find: far('find', (login, ofKey) => records.find(login, ofKey)),
      voidKey: far('void', (request) => records.voidKey(request)),
    };
  }

  function gatewayOf(replica: number): SubmitterOptions['gateway'] {
    return {
      order(_viewer, { order: { symbol }, sendBeforeMs }) {
        const { promise, resolve } = Promise.withResolvers<Exchange>();
        calls.push({ replica, symbol, sendBeforeMs, answer: resolve, isSent: false, end: null });
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
    };
    return new Orders({ ...options, gateway: gatewayOf(replica), records: portOf(replica) });
  });

  function start(n: number, operation: Operation): void {
    started.add(n);
    const replica = replicas[operation.at] as Orders;
    const end = (result: Placed | Error | null) => {
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
    call.answer(exchangeOf(as));
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
    const final = await records.find(demo.login, KEY);
    assertRules({ scenario, answers, calls, final, dead });
  }

  return {
    actions: () => {
      const next = required();
      return next.length === 0 ? [] : [...next, ...optional()];
    },
    finish,
  };
}

function exchangeOf(end: End): Exchange {
  switch (end) {
    case 'accepted':
      return acceptedAs('o-1');
    case 'rejected':
      return answered(422, { err: 'NO' });
    case 'nothing':
      return answered(500);
    case 'paused':
      return answered(429);
    case 'refused':
      return notSent;
  }
}

/** What one thing sets off may itself wait for an immediate. */
async function nothingMoves(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** The errors that a request may end in; each says that nothing was sent for it. */
export function isAllowed(error: unknown): boolean {
  return (
    error instanceof InputError ||
    error instanceof RecordsUnavailableError ||
    (error instanceof GatewayError && ['unavailable', 'rate-limited'].includes(error.kind))
  );
}
