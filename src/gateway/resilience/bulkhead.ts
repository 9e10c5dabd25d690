import type { Clock } from '../../lib/clock.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Send, WireCall } from '../exchange.ts';
import type { Area } from '../operation.ts';
import { accountOf } from './account-of.ts';

const FULL =
  'the connections that calls of its kind may use were taken for as long as it could wait';

/** The longest wait of an order, whose user has tapped and looks at the screen. */
const ORDER_WAIT_MS = 2_000;

/** A call as a bulkhead counts it. */
interface Entry {
  readonly account: string;
  readonly isProved: boolean;
  readonly isPoll: boolean;
}

interface Waiting {
  readonly entry: Entry;
  readonly begin: () => void;
}

/**
 * Bounds the connections that calls of one area hold. Where none is free accounts take turns, however many calls each has.
 * Feeds' polls have half of the connections at most, so that requests find some, and so have callers without a proved account.
 * One account's orders have a quarter, whatever becomes of them.
 */
export class Bulkhead {
  readonly #clock: Clock;
  readonly #width: number;
  readonly #isOfOrders: boolean;
  /** The waiting calls by account; the first account has the next turn. */
  readonly #lines = new Map<string, Set<Waiting>>();
  readonly #heldBy = new Map<string, number>();
  /** The orders of each account that are read on past their deadlines. */
  readonly #lateOf = new Map<string, number>();
  #held = 0;
  #late = 0;
  #polls = 0;
  #unproved = 0;

  constructor(clock: Clock, width: number, isOfOrders: boolean) {
    this.#clock = clock;
    this.#width = width;
    this.#isOfOrders = isOfOrders;
  }

  /** The calls that wait for a connection. */
  waiting({ isPoll }: Pick<Entry, 'isPoll'>): number {
    const all = [...this.#lines.values()].flatMap((line) => [...line]);
    return all.filter(({ entry }) => entry.isPoll === isPoll).length;
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

  /** Lets an order keep its connection past its deadline: half of an account's share, and half of all. */
  keepLate({ account }: Entry): boolean {
    const own = this.#lateOf.get(account) ?? 0;
    if (this.#late >= this.#width / 2 || own >= share(this.#width, 8)) return false;
    this.#late += 1;
    this.#lateOf.set(account, own + 1);
    return true;
  }

  leaveLate(entry: Entry): void {
    this.#late -= 1;
    add(this.#lateOf, entry.account, -1);
    this.leave(entry);
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

  #fits({ account, isProved, isPoll }: Entry): boolean {
    const half = Math.ceil(this.#width / 2);
    if (this.#held >= this.#width) return false;
    if ((isPoll && this.#polls >= half) || (!isProved && this.#unproved >= half)) return false;
    if (!this.#isOfOrders) return true;
    return (this.#heldBy.get(account) ?? 0) < share(this.#width, 4);
  }

  #count({ account, isProved, isPoll }: Entry, count: 1 | -1): void {
    this.#held += count;
    if (isPoll) this.#polls += count;
    if (!isProved) this.#unproved += count;
    if (this.#isOfOrders) add(this.#heldBy, account, count);
  }
}

function share(width: number, parts: number): number {
  return Math.max(1, Math.floor(width / parts));
}

/** Polls have lines of their own: one that waits must not keep its account's requests waiting. */
function lineOf({ account, isPoll }: Entry): string {
  return isPoll ? `${account} poll` : account;
}

function add(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

/** Sends each call once its area has a connection for it. */
export function withBulkheads(
  send: Send,
  areas: Readonly<Record<Area, Bulkhead>>,
  clock: Clock,
): Send {
  return (call, end) => {
    const bulkhead = areas[call.row.area];
    if (bulkhead === undefined) return send(call, end);
    const { key: account, isProved } = accountOf(call.caller);
    const entry = { account, isProved, isPoll: call.caller.priority === 'poll' };
    // Nearly always there is room, and nothing to wait for.
    if (bulkhead.take(entry)) return sendHeld(send, call, bulkhead, entry, end);
    const startedAtMs = clock.now();
    const mostMs = longestWaitMs(call);
    const begin = (hasPlace: boolean) => {
      const waitedMs = clock.now() - startedAtMs;
      // After a pause of the process a call's turn may come before its timer fires.
      const isOver = waitedMs > mostMs;
      if (hasPlace && isOver) bulkhead.leave(entry);
      if (!hasPlace || isOver)
        return end({ sent: false, cause: new NotAttemptedError('busy', FULL) });
      const deadlineMs = call.deadlineMs - waitedMs;
      sendHeld(send, { ...call, deadlineMs }, bulkhead, entry, end);
    };
    const waiting = bulkhead.wait(entry, mostMs, signalOf(call)).then(begin);
    // A call that throws here has not reached the wire.
    waiting.catch((cause) => end({ sent: false, cause }));
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
function sendHeld(
  send: Send,
  call: WireCall,
  bulkhead: Bulkhead,
  entry: Entry,
  end: Parameters<Send>[1],
): void {
  const { onLate } = call;
  if (onLate === undefined) {
    send(call, (exchange) => {
      bulkhead.leave(entry);
      end(exchange);
    });
    return;
  }
  let isLate = false;
  const mayBeLate = () => {
    isLate = bulkhead.keepLate(entry);
    return isLate;
  };
  const onLateAnswer: typeof onLate = (exchange) => {
    bulkhead.leaveLate(entry);
    onLate(exchange);
  };
  send({ ...call, mayBeLate, onLate: onLateAnswer }, (exchange) => {
    if (!isLate) bulkhead.leave(entry);
    end(exchange);
  });
}
