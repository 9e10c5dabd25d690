import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { clientOf } from '../../lib/limits/caller.ts';
import type { Caller } from '../caller.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import type { Area } from '../operation.ts';

const FULL =
  'the connections that calls of its kind may use were taken for as long as it could wait';

/** The longest wait of an order, whose user has tapped and looks at the screen. */
const ORDER_WAIT_MS = 2_000;

/** A call as a bulkhead counts it. */
interface Entry {
  readonly account: string;
  readonly isPoll: boolean;
}

interface Waiting {
  readonly entry: Entry;
  readonly begin: () => void;
}

/**
 * Bounds the connections that calls of one area hold. Where none is free accounts take turns, however many calls each has.
 * Feeds' polls hold half of the connections at most, so that requests find some. One account's orders hold a quarter.
 */
export class Bulkhead {
  readonly #clock: Clock;
  readonly #width: number;
  readonly #isOfOrders: boolean;
  /** The waiting calls by account; the first account has the next turn. */
  readonly #lines = new Map<string, Set<Waiting>>();
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  #polls = 0;

  constructor(clock: Clock, width: number, isOfOrders: boolean) {
    this.#clock = clock;
    this.#width = width;
    this.#isOfOrders = isOfOrders;
  }

  /** The number of calls that wait for a connection. */
  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.size, 0);
  }

  /** Takes a connection where the call may have one at once. */
  take(entry: Entry): boolean {
    if (!this.#fits(entry)) return false;
    this.#count(entry, 1);
    return true;
  }

  /** Waits for a connection. Resolves to false, with nothing to leave, where none came free in time or nobody waits for the call any more. */
  wait(entry: Entry, timeoutMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    const key = lineOf(entry);
    const line = this.#lines.get(key) ?? new Set();
    this.#lines.set(key, line);
    return new Promise((resolve) => {
      const end = (hasPlace: boolean) => {
        line.delete(waiting);
        if (line.size === 0 && this.#lines.get(key) === line) this.#lines.delete(key);
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(hasPlace);
      };
      const waiting = { entry, begin: () => end(true) };
      const giveUp = () => end(false);
      const cancel = this.#clock.after(timeoutMs, giveUp);
      signal?.addEventListener('abort', giveUp);
      line.add(waiting);
    });
  }

  leave(entry: Entry): void {
    this.#count(entry, -1);
    while (this.#beginNext());
  }

  #beginNext(): boolean {
    for (const [key, line] of this.#lines) {
      const [next] = line;
      if (next === undefined || !this.take(next.entry)) continue;
      // Its account goes to the end of those that wait.
      this.#lines.delete(key);
      if (line.size > 1) this.#lines.set(key, line);
      next.begin();
      return true;
    }
    return false;
  }

  #fits({ account, isPoll }: Entry): boolean {
    if (this.#held >= this.#width) return false;
    if (isPoll && this.#polls >= Math.ceil(this.#width / 2)) return false;
    const share = Math.max(1, Math.floor(this.#width / 4));
    return !this.#isOfOrders || (this.#heldBy.get(account) ?? 0) < share;
  }

  #count({ account, isPoll }: Entry, count: 1 | -1): void {
    this.#held += count;
    if (isPoll) this.#polls += count;
    const held = (this.#heldBy.get(account) ?? 0) + count;
    if (held > 0) this.#heldBy.set(account, held);
    else this.#heldBy.delete(account);
  }
}

/** Polls have lines of their own: one that waits must not keep its account's requests waiting. */
function lineOf({ account, isPoll }: Entry): string {
  return isPoll ? `${account} poll` : account;
}

/** All unproved callers of a network count as one account. */
function entryOf(caller: Caller): Entry {
  const account = clientOf(caller).key;
  return { account, isPoll: caller.priority === 'poll' };
}

/** Sends each call once its area has a connection for it. */
export function withBulkheads(
  send: Send,
  areas: Readonly<Record<Area, Bulkhead>>,
  clock: Clock,
): Send {
  return async (call) => {
    const bulkhead = areas[call.row.area];
    if (bulkhead === undefined) throw new Error(`no connections for ${call.row.area}`);
    const entry = entryOf(call.caller);
    // Nearly always there is room, and nothing to wait for.
    if (bulkhead.take(entry)) return sendHeld(send, call, bulkhead, entry);
    const startedAtMs = clock.now();
    const mostMs = longestWaitMs(call);
    const busy = { sent: false, cause: new NotAttemptedError('busy', FULL) } as const;
    if (!(await bulkhead.wait(entry, mostMs, signalOf(call)))) return busy;
    const waitedMs = clock.now() - startedAtMs;
    const deadlineMs = call.deadlineMs - waitedMs;
    if (waitedMs <= mostMs) return sendHeld(send, { ...call, deadlineMs }, bulkhead, entry);
    // After a pause of the process a call's turn may come before its timer fires.
    bulkhead.leave(entry);
    return busy;
  };
}

/** A call that is sent with little of its deadline left would be answered too late, and count as the gateway's time-out. */
function longestWaitMs({ row, deadlineMs }: WireCall): number {
  const halfMs = deadlineMs / 2;
  return row.effect === 'order' ? Math.min(ORDER_WAIT_MS, halfMs) : halfMs;
}

/** Nobody needs a small write that has not begun when its client leaves. An order is sent all the same. */
function signalOf({ row, signal, caller }: WireCall): AbortSignal | undefined {
  return { read: signal, write: caller.signal, order: undefined }[row.effect];
}

/** Leaves the connection when the call ends, or when its late answer does. */
async function sendHeld(
  send: Send,
  call: WireCall,
  bulkhead: Bulkhead,
  entry: Entry,
): Promise<Exchange> {
  const leave = () => bulkhead.leave(entry);
  let late: Promise<Exchange> | undefined;
  try {
    const exchange = await send(call);
    if ('late' in exchange) late = exchange.late;
    return exchange;
  } finally {
    if (late === undefined) leave();
    else fireAndForget('late answer', late.then(leave));
  }
}
