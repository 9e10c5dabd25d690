import { callApp } from '../call-app.ts';
import type { OwnRequestOptions, Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import { TradingGraphError } from '../errors.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import {
  asTradingGraphError,
  disposedError,
  isLate,
  networkError,
  offlineError,
  protocolError,
} from '../request/failures.ts';
import { neverLeft } from '../request/never-left.ts';
import { PING } from '../request/ping.ts';
import { askOutcome, closeKey } from './ask-outcome.ts';
import { checkAccount } from './check-account.ts';
import { withDeadLineDetection } from './dead-line-detection.ts';
import { freshSocket } from './fresh-socket.ts';
import { PLACED_ORDER } from './operations.ts';
import { type OrderKey, outOfTime } from './order-key.ts';
import { type OrderAnswer, type OrderOutcome, readAnswer, unsentCode } from './outcome.ts';
import {
  isAnothers,
  isLasting,
  mayClose,
  mayHaveTraded,
  pauseMs,
  refusesKeyMade,
} from './repeat-rules.ts';
import type { OrderProgress } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** A request without an answer is then sent over a new one: the server joins both. */
const ATTEMPT_MS = 10_000;

/** So late an end shows that the thread was blocked, or the machine slept. */
const LATE_MS = 500;

export interface Order {
  readonly key: OrderKey;
  readonly maxWaitMs: number;
  /** The part of the deadline in which nothing is sent any more, and the key is closed. */
  readonly closingMs: number;
  readonly onProgress?: (progress: OrderProgress) => void;
  /** Left out for an order of an earlier run, whose input is not known: it is only asked about. */
  readonly send?: (options: OwnRequestOptions) => Promise<Result<OrderAnswer>>;
}

/** The outcome that a search has found. */
export interface Found {
  readonly outcome: OrderOutcome;
  /** Whether the server has said it. */
  readonly isTold: boolean;
}

/** Seeks the outcome for so long. It never rejects: without an answer the order is unsent, or unknown where it is in doubt. */
export async function findOutcome(
  context: TicketContext,
  order: Order,
  withinMs: number,
): Promise<Found> {
  const { core, disposal } = context;
  const { key } = order;
  const { environment } = core;
  const [startedAt, startedUp] = [environment.now(), environment.uptime()];
  try {
    const outcome = await withinTime(environment, withinMs, disposal, (deadline) =>
      seekOutcome(context, order, deadline),
    );
    return { outcome, isTold: true };
  } catch (thrown) {
    const error = disposal.aborted ? disposedError() : asTradingGraphError(thrown);
    const elapsedMs = Math.max(environment.now() - startedAt, environment.uptime() - startedUp);
    // The thread was blocked, and has heard nothing of what the server knows meanwhile.
    if (key.isInDoubt && !disposal.aborted && elapsedMs - withinMs >= LATE_MS) {
      const known = await withinTime(environment, ATTEMPT_MS, disposal, (deadline) =>
        close({ context, order, deadline, isLineDead: false, lineError: null }),
      ).catch(() => null);
      if (known !== null) return { outcome: known, isTold: true };
    }
    const idempotencyKey = key.key;
    const outcome: OrderOutcome = key.isInDoubt
      ? { status: 'unknown', idempotencyKey, sentAt: key.sentAt, message: null, error }
      : { status: 'unsent', idempotencyKey, error };
    return { outcome, isTold: false };
  }
}

/** The search for the outcome of one placing. */
interface Search {
  readonly context: TicketContext;
  readonly order: Order;
  readonly deadline: Deadline;
  /** Whether nothing has come back over the line of `fetch`, not even a ping. */
  isLineDead: boolean;
  /** Why, where the platform says more than that nothing came. */
  lineError: TradingGraphError | null;
}

/**
 * Sends the order, and again where that may help, as long as it may be sent; then closes its key. The outcome is the
 * server's. Throws the last error where there is none.
 */
async function seekOutcome(
  context: TicketContext,
  order: Order,
  deadline: Deadline,
): Promise<OrderOutcome> {
  const { environment } = context.core;
  const { key, onProgress, send } = order;
  const search: Search = { context, order, deadline, isLineDead: false, lineError: null };
  let refusedTokens = 0;
  let isClosing = false;
  /** The last failure that says more than that there was no answer in time. */
  let answer: TradingGraphError | null = null;
  for (let failures = 0; ; failures += 1) {
    const wasInDoubt = key.isInDoubt;
    try {
      // This is checked before each attempt: a pause may last hours, and the clock may be changed in it.
      const isOver = leftMs(search) === 0;
      // One whose input is not known is asked about first, and its key closed only where that proves something.
      isClosing ||= send
        ? key.isInDoubt && (isOver || key.age !== 'fresh')
        : failures > 0 && isOver && key.age === 'fresh';
      const progress = isClosing ? 'closing' : key.isInDoubt ? 'asking' : 'sending';
      void Promise.resolve().then(() => callApp(environment, () => onProgress?.(progress)));
      const outcome = await (isClosing ? close : attempt)(search);
      // Somebody has closed the key, or a repeat was refused, and the server may not know of earlier requests: that is asked
      // by a void of our own. Only a settlement speaks of all of them.
      const code = unsentCode(outcome);
      const isOpen = code === 'VOIDED' || (wasInDoubt && code !== null && code !== 'SETTLED');
      if (isClosing || !isOpen) return outcome;
      isClosing = true;
    } catch (thrown) {
      const ended = asTradingGraphError(thrown);
      const error = isLate(ended) ? (search.lineError ?? ended) : ended;
      search.lineError = null;
      // It says nothing of a request that left after it.
      if (!isLate(error)) answer = error;
      else if (key.isInDoubt && !wasInDoubt) answer = null;
      if (error.code === 'UNAUTHENTICATED') refusedTokens += 1;
      // One token may have run out on its way; a second one that is refused was not worth a third.
      const isLast = isLasting(error) || refusedTokens > 1;
      const isSending = !isClosing && key.isInDoubt;
      if (isLast && !(isSending && mayClose(error))) throw error;
      // Nobody wants an order to go out by itself when the network is back.
      if (!key.isInDoubt && (neverLeft(error) || isOffline(context))) throw error;
      const pause = pauseMs(error, failures, environment.random());
      const isAsking = !send && key.age !== 'fresh';
      const left = isClosing || isAsking ? deadline.remainingMs : leftMs(search);
      // An order in doubt is not given up here: its key can still be closed once it may no longer be sent.
      if (!isSending && pause >= left) throw answer ?? error;
      isClosing ||= isLast;
      await deadline.sleep(isLast ? 0 : Math.min(pause, left));
      if (deadline.remainingMs === 0) throw answer ?? error;
    }
  }
}

async function attempt(search: Search): Promise<OrderOutcome> {
  const { context, order } = search;
  const { core } = context;
  const { key, maxWaitMs } = order;
  if (!key.isInDoubt) throwIfOffline(context);
  // A request that waits somewhere for the network is ended with the time in which it may leave.
  const left = order.send ? leftMs(search) : search.deadline.remainingMs;
  const within = Math.min(ATTEMPT_MS, left);
  return overLine(search, within, async (time, exchange) => {
    const account = await checkAccount(core, key.signIn ?? core.signIn, time, exchange);
    key.belongsTo(account);
    if (!order.send) return ask(search, time, { account, exchange });
    // After a sleep the server would be named a moment that is over; on a WebSocket, which tells no date, the order names none.
    const { serverClock } = core;
    const isUntold = serverClock.now() === null || (serverClock.isBehind && !exchange);
    if (key.since === undefined && isUntold) {
      await key.storeUnsent(account, maxWaitMs, time);
      await time.race(core.request(PING, {}, { repeats: false, signal: time.signal }));
    }
    await key.store(account, maxWaitMs, time);
    return send(search, time, { account, exchange });
  });
}

async function ask(
  { context, order: { key } }: Search,
  time: Deadline,
  options: OwnRequestOptions & { readonly account: string },
): Promise<OrderOutcome> {
  const own = { ...options, repeats: false };
  const outcome = await askOutcome(context, PLACED_ORDER, { key: key.key }, time, own);
  if (key.age !== 'fresh' && (outcome === null || outcome.status === 'unsent')) throw forgotten();
  // Its request may still be on its way, or another tab may not have sent it yet.
  if (outcome === null) throw networkError('The server has no record of this order yet.');
  return outcome;
}

async function send(
  search: Search,
  time: Deadline,
  options: OwnRequestOptions,
): Promise<OrderOutcome> {
  const { context, order } = search;
  const { key } = order;
  const wasInDoubt = key.isInDoubt;
  const leaving = () => {
    // Timers stand still while a phone sleeps, so that the clocks are asked once more.
    if (time.remainingMs === 0 || leftMs(search) === 0) throw outOfTime();
    if (!wasInDoubt) throwIfOffline(context);
    key.isInDoubt = true;
  };
  try {
    const sending = order.send?.({ ...options, signal: time.signal, leaving });
    const outcome = sending ? readAnswer(await time.race(sending), key.key) : null;
    if (outcome === null) throw protocolError('The answer has no outcome.');
    return outcome;
  } catch (thrown) {
    const error = asTradingGraphError(thrown);
    if (key.keyMade !== undefined && refusesKeyMade(error)) {
      key.leaveOutKeyMade();
      key.isInDoubt = wasInDoubt;
      return send(search, time, options);
    }
    // An earlier request that was lost may still arrive, so that its doubt stays.
    const resends = !options.exchange && mayResend(context.core.environment);
    if (!mayHaveTraded(error, resends)) key.isInDoubt = wasInDoubt;
    // The key that the app has given is another order's, of which its own request tells; this one is not placed with it.
    if (key.isGiven && isAnothers(error)) key.isInDoubt = false;
    throw error;
  }
}

/** Node's own `fetch` sends no order twice. Browsers, phones and Bun may, after a connection that broke; a socket of ours does not. */
function mayResend({ isServer, resends }: Environment): boolean {
  const { process }: { process?: { versions?: { undici?: string } } } = Object(globalThis);
  return resends ?? !(isServer && process?.versions?.undici);
}

/** Sends no order: the time for that is over, or the server may have forgotten the key and would take it for a new one. */
async function close(search: Search): Promise<OrderOutcome> {
  const { context, order, deadline } = search;
  const { key } = order;
  // An order in doubt is one whose account is known.
  const account = key.account as string;
  const asked = { key: key.key, since: key.since };
  const within = Math.min(ATTEMPT_MS, deadline.remainingMs);
  const outcome = await overLine(search, within, (time, exchange) =>
    closeKey(context, asked, time, { account, exchange }),
  );
  // The answer has told the time as well, of which the device may have lost hours in its sleep.
  if (outcome !== null && (outcome.status !== 'unsent' || key.age === 'fresh')) return outcome;
  throw forgotten();
}

function forgotten(): TradingGraphError {
  const message = 'The server has no record of this order, and may have had one.';
  return new TradingGraphError(message, { code: 'KEY_EXPIRED', retryable: false });
}

/** Runs the task, over a WebSocket of its own where the line of `fetch` was found dead; the next one is by `fetch` again. */
function overLine<T>(
  search: Search,
  ms: number,
  task: (time: Deadline, exchange: OwnRequestOptions['exchange']) => Promise<T>,
): Promise<T> {
  const { context, deadline } = search;
  const { core } = context;
  const exchange = search.isLineDead ? freshSocket(core.environment) : undefined;
  search.isLineDead = false;
  // Without a WebSocket there is no other line, for which a slow one would be given up.
  if (exchange || !core.environment.WebSocket) {
    return withinTime(core.environment, ms, deadline.signal, (time) => task(time, exchange));
  }
  const onDead = (error: TradingGraphError) => {
    search.isLineDead = true;
    if (error.code === 'NETWORK' && !isLate(error)) search.lineError = error;
  };
  return withDeadLineDetection(core, ms, deadline.signal, (time) => task(time, undefined), onDead);
}

/** The time in which the order may still be sent. */
function leftMs({ order, deadline }: Search): number {
  const { key, maxWaitMs, closingMs } = order;
  return Math.max(0, Math.min(key.leftMs(maxWaitMs), deadline.remainingMs - closingMs));
}

function throwIfOffline(context: TicketContext): void {
  if (isOffline(context)) throw offlineError();
}

function isOffline({ core }: TicketContext): boolean {
  return core.environment.lifecycle.isOnline === false;
}
