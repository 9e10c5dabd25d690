import type { Clock } from '../../lib/clock.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import type { Caller, WireCall } from '../exchange.ts';

/** The longest wait of an order: its user has tapped and looks at the screen. */
const ORDER_WAIT_MS = 2_000;

/** A call as a bulkhead counts it. */
export interface Entry {
  readonly account: string;
  readonly isProved: boolean;
  readonly isPoll: boolean;
}

interface Waiting {
  readonly entry: Entry;
  readonly begin: () => void;
}

/**
 * Bounds the connections that the calls of one area hold. If none is free, accounts take turns, however many calls each
 * has. Polls of feeds hold at most half of the connections. Unproved callers also hold at most half: hanging sign-ins must
 * not delay proved accounts. One account's orders hold at most a quarter.
 */
export class Bulkhead {
  readonly #clock: Clock;
  readonly #width: number;
  readonly #isOfOrders: boolean;
  /** The waiting calls by account; the first account gets the next free connection. */
  readonly #queues = new Map<string, Set<Waiting>>();
  /** The connections that the orders of each account hold. */
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  #polls = 0;
  #unproved = 0;

  constructor(clock: Clock, width: number, isOfOrders: boolean) {
    this.#clock = clock;
    this.#width = width;
    this.#isOfOrders = isOfOrders;
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Takes a connection if one is free for the call. */
  take(entry: Entry): boolean {
    if (!this.#fits(entry)) return false;
    this.#count(entry, 1);
    return true;
  }

  /**
   * Waits for a connection, for half of the call's deadline at most. Resolves to the call with the rest of its deadline; to
   * null if no connection came free in time.
   */
  async enqueue(call: WireCall, entry: Entry): Promise<WireCall | null> {
    const startedAtMs = this.#clock.now();
    const mostMs = longestWaitMs(call);
    if (!(await this.#wait(entry, mostMs))) return null;
    const waitedMs = this.#clock.now() - startedAtMs;
    if (waitedMs <= mostMs) return { ...call, deadlineMs: call.deadlineMs - waitedMs };
    // After a pause of the process, a call may get its connection before its timer fires.
    this.leave(entry);
    return null;
  }

  leave(entry: Entry): void {
    this.#count(entry, -1);
    while (this.#beginNext());
  }

  #wait(entry: Entry, timeoutMs: number): Promise<boolean> {
    const key = queueKeyOf(entry);
    const queue = this.#queues.get(key) ?? new Set();
    this.#queues.set(key, queue);
    return new Promise((resolve) => {
      const end = (hasPlace: boolean) => {
        queue.delete(waiting);
        if (queue.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
        cancel();
        resolve(hasPlace);
      };
      const waiting = { entry, begin: () => end(true) };
      const cancel = this.#clock.after(timeoutMs, () => end(false));
      queue.add(waiting);
    });
  }

  #beginNext(): boolean {
    for (const [key, queue] of this.#queues) {
      const [next] = queue;
      if (next === undefined || !this.take(next.entry)) continue;
      // The account moves to the end of the waiting accounts.
      this.#queues.delete(key);
      if (queue.size > 1) this.#queues.set(key, queue);
      next.begin();
      return true;
    }
    return false;
  }

  #fits({ account, isProved, isPoll }: Entry): boolean {
    const half = Math.ceil(this.#width / 2);
    if (this.#held >= this.#width) return false;
    if (isPoll && this.#polls >= half) return false;
    if (!isProved && this.#unproved >= half) return false;
    if (!this.#isOfOrders) return true;
    const maxOfAccount = Math.max(1, Math.floor(this.#width / 4));
    return (this.#heldBy.get(account) ?? 0) < maxOfAccount;
  }

  #count({ account, isProved, isPoll }: Entry, count: 1 | -1): void {
    this.#held += count;
    if (isPoll) this.#polls += count;
    if (!isProved) this.#unproved += count;
    if (!this.#isOfOrders) return;
    const heldByAccount = (this.#heldBy.get(account) ?? 0) + count;
    if (heldByAccount > 0) this.#heldBy.set(account, heldByAccount);
    else this.#heldBy.delete(account);
  }
}

/** Polls have their own queues: a waiting poll must not delay the requests of its account. */
function queueKeyOf({ account, isPoll }: Entry): string {
  return isPoll ? `${account} poll` : account;
}

/** All unproved callers of one network count as one account. */
export function entryOf(caller: Caller): Entry {
  const { kind, key: account } = clientOf(caller);
  return { account, isProved: kind === 'account', isPoll: caller.priority === 'poll' };
}

/** At least half of the deadline is left for the gateway: otherwise a late call would count as the gateway's time-out. */
function longestWaitMs({ operation, deadlineMs }: WireCall): number {
  const halfMs = deadlineMs / 2;
  return operation.effect === 'order' ? Math.min(ORDER_WAIT_MS, halfMs) : halfMs;
}
