import { isGatewayError } from '../../gateway/gateway-error.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import { pause, steadyClock, within } from '../../lib/clock.ts';
import { InputError } from '../../lib/public-error.ts';
import { KEY_AHEAD_MS } from '../../store/key-rule.ts';
import { newKeyAt } from '../../store/order-key.ts';
import {
  CLOSED,
  isClosed,
  type OrderRecord,
  RECORD_LIFE_MS,
  type ReserveAnswer,
  recordId,
} from '../../store/order-records.ts';
import { KeyAheadError, RecordsUnavailableError } from '../../store/refusals.ts';
import type { AccountProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { askedOf } from './order-line.ts';
import { type OrderResult, unknownSince } from './outcome.ts';
import { Recorder } from './recorder.ts';
import { Submitter, type SubmitterOptions } from './submitter.ts';
import { broken, inputDigest, type Ticket } from './ticket.ts';

interface InFlightOrder {
  readonly sinceMs: number;
  readonly inputDigest: string;
  /** Resolves to true once the key is reserved for this order, and to false if it ended without a reservation. */
  readonly isReserved: Promise<boolean>;
  readonly done: Promise<OrderResult>;
}

/** The time after an order's deadline to record its outcome. After it, other processes assume that this process is dead. */
const RECORDING_MS = 2_000;
const FOLLOW_POLL_MS = 100;
// A reservation that arrives later is released, and its order is not sent: if this process was frozen, another process may
// have assumed that it is dead, and have reserved the key.
const RESERVE_PATIENCE_MS = 5_000;
// Only a store whose clock is wrong, or was set back, still counts such an order as in flight.
const UNDECIDED = 'an order of another process has not ended in its time';
/** The attempts to close a key. One fails only if an order has used the key meanwhile, and has ended in an error. */
const VOID_ATTEMPTS = 10;

/** Places orders, each at most once per key, and returns their outcomes. */
export class Orders {
  readonly #options: SubmitterOptions;
  readonly #recorder;
  readonly #submitter;
  readonly #pendingMs: number;
  /** Orders in flight in this process. They outlive their requests, because clients may disconnect. */
  readonly #inFlight = new Map<string, InFlightOrder>();

  constructor(options: SubmitterOptions) {
    this.#options = options;
    this.#recorder = new Recorder(options);
    this.#submitter = new Submitter(options, this.#recorder);
    this.#pendingMs = options.orderTimeoutMs + RECORDING_MS;
  }

  get oldestSeconds(): number {
    // A Map keeps the order of insertion.
    const [oldest] = this.#inFlight.values();
    return oldest ? (steadyClock.now() - oldest.sinceMs) / 1000 : 0;
  }

  get isClockMeasured(): boolean {
    return this.#options.dates().isMeasured;
  }

  newKey(): string {
    return newKeyAt(this.#options.dates().judgedMs);
  }

  /**
   * Throws an InputError if another order has this key or its time is ahead, a RecordsUnavailableError if this request was not
   * sent (that error says what is known about earlier ones), or a GatewayError if the order was certainly not accepted and its
   * key is free.
   */
  async place(viewer: Viewer, proof: AccountProof, ticket: Ticket): Promise<OrderResult> {
    if (viewer[ACCOUNT] !== proof[ACCOUNT]) throw new Error('the proof is of another account');
    const digest = inputDigest(ticket);
    const id = recordId(proof[ACCOUNT], ticket.idempotencyKey);
    for (;;) {
      const inFlight = this.#inFlight.get(id);
      if (!inFlight) return this.#start(id, viewer, ticket, digest);
      if (inFlight.inputDigest !== digest) {
        if (await inFlight.isReserved) throw otherInput();
        // That order has ended without a reservation, and is no longer in flight.
        continue;
      }
      try {
        return { ...(await inFlight.done), replayed: true };
      } catch (error) {
        // The gateway refused the first request's token. It may accept the token of this request, so the loop tries again.
        if (!isGatewayError(error, 'unauthenticated', 'forbidden')) throw error;
      }
    }
  }

  /** The outcome under a key; null if there is no record. Waits while the order is in flight. */
  async placed(proof: AccountProof, key: string): Promise<OrderResult | null> {
    const account = proof[ACCOUNT];
    const id = recordId(account, key);
    for (;;) {
      const result = await this.#resultInFlight(id);
      if (result) return result;
      const record = await this.#recorder.find(account, key).catch(withArgument('idempotencyKey'));
      if (!record) {
        // The order may have begun during the search. Then the loop waits for its result.
        if (this.#inFlight.has(id)) continue;
        return null;
      }
      const followed = await this.#follow(account, key, record);
      if (followed) return this.#replayed(account, key, followed);
    }
  }

  /**
   * Closes an unused key. For a used key it returns the outcome, and waits while the order is in flight. Throws a
   * KeyTooOldError if the records do not reach back to when the key was made.
   */
  async void(proof: AccountProof, key: string): Promise<OrderResult> {
    const account = proof[ACCOUNT];
    const { records } = this.#options;
    for (let attempt = 0; attempt < VOID_ATTEMPTS; attempt += 1) {
      const result = await this.#resultInFlight(recordId(account, key));
      if (result) return result;
      const waiting = this.#recorder.waiting(account, key);
      const { voided, record } = waiting
        ? { voided: false, record: waiting }
        : await records.voidKey({ account, key }).catch(withArgument('idempotencyKey'));
      if (voided) return { outcome: CLOSED, idempotencyKey: key, replayed: false };
      const followed = await this.#follow(account, key, record);
      if (followed) return this.#replayed(account, key, followed);
      // The order ended in an error, so the key is free.
    }
    throw new RecordsUnavailableError('the key was freed and used again too many times');
  }

  watchCutOffs(signal: AbortSignal): Promise<void> {
    return this.#recorder.watchCutOffs(signal);
  }

  async drain(): Promise<void> {
    for (;;) {
      const unfinished = [...this.#inFlight.values()].map(({ done }) => done);
      const waiting = [...unfinished, ...this.#recorder.unwritten];
      if (waiting.length === 0) return;
      await Promise.allSettled(waiting);
    }
  }

  /** The result of this process's order in flight. Null if the records must be read. */
  async #resultInFlight(id: string): Promise<OrderResult | null> {
    const result = await this.#inFlight.get(id)?.done.catch(() => null);
    return result ? { ...result, replayed: true } : null;
  }

  #start(id: string, viewer: Viewer, ticket: Ticket, digest: string): Promise<OrderResult> {
    const { promise: isReserved, resolve } = Promise.withResolvers<boolean>();
    const done = this.#run(viewer, ticket, digest, () => resolve(true)).finally(() => {
      this.#inFlight.delete(id);
      resolve(false);
    });
    // A monotonic time: with a date, setting the clock forward would alert operators.
    const sinceMs = steadyClock.now();
    this.#inFlight.set(id, { sinceMs, inputDigest: digest, isReserved, done });
    return done;
  }

  async #run(
    viewer: Viewer,
    ticket: Ticket,
    digest: string,
    onReserved: () => void,
  ): Promise<OrderResult> {
    const account = viewer[ACCOUNT];
    const { idempotencyKey } = ticket;
    for (;;) {
      const answer = await this.#claim(viewer, ticket, digest).catch(
        withArgument('input.idempotencyKey'),
      );
      if (answer.reserved) {
        onReserved();
        const outcome = await this.#submitter.send(viewer, ticket, answer.reservation);
        return { outcome, idempotencyKey, replayed: false };
      }
      if (!isClosed(answer.record) && answer.record.inputDigest !== digest) throw otherInput();
      const record = await this.#follow(account, idempotencyKey, answer.record);
      if (record) return this.#replayed(account, idempotencyKey, record);
    }
  }

  /** A key that has a record is answered from the record, even if the ticket's `sendBefore` is invalid. */
  async #claim(
    { [ACCOUNT]: account, requestId }: Viewer,
    ticket: Ticket,
    digest: string,
  ): Promise<ReserveAnswer> {
    const { idempotencyKey: key, sendBeforeMs } = ticket;
    const waiting = this.#recorder.waiting(account, key);
    if (waiting) return { reserved: false, record: waiting };
    const { clock, records } = this.#options;
    const { judgedMs, laterMs } = this.#options.dates();
    if (sendBeforeMs !== null && sendBeforeMs - judgedMs > RECORD_LIFE_MS) {
      const record = await this.#recorder.find(account, key);
      if (record !== null) return { reserved: false, record };
      throw broken('input.sendBefore', 'must be at most 24 hours ahead');
    }
    const startedAtMs = clock.now();
    const answer = records.reserve({
      account,
      key,
      inputDigest: digest,
      reservedAtMs: laterMs,
      pendingMs: this.#pendingMs,
      isNeverSent: this.#submitter.isTooLate(ticket),
      asked: { requestId: requestId ?? null, ...askedOf(ticket) },
    });
    const arrived = await within(clock, RESERVE_PATIENCE_MS, answer);
    // Checks the clock in addition to the timer: after a freeze the answer may be read before the timer fires.
    const isTimely = clock.now() - startedAtMs <= RESERVE_PATIENCE_MS;
    // Only a reservation can be too late. Another order's record is as good as before.
    if (arrived && (isTimely || !arrived.reserved)) return arrived;
    // Frees the key if a reservation arrives after all.
    answer.then(
      (late) => (late.reserved ? this.#recorder.release(late.reservation) : undefined),
      () => {},
    );
    throw new RecordsUnavailableError('the order records took too long to answer');
  }

  /** Answers from a record. Drops this process's cache of the account, because another process may have sent the order. */
  #replayed(account: Account, idempotencyKey: string, record: OrderRecord): OrderResult {
    // If an order is pending past its deadline, its process is dead. Whether it reached the gateway is unknown.
    const outcome = record.outcome ?? unknownSince(record.reservedAtMs);
    return { outcome: this.#submitter.report(account, outcome), idempotencyKey, replayed: true };
  }

  /**
   * Waits until a pending record of another process has an outcome, or until the record's time is over. Null if the key was
   * released. Timers measure the wait, so that clock corrections do not affect it.
   */
  async #follow(account: Account, key: string, first: OrderRecord): Promise<OrderRecord | null> {
    const { clock } = this.#options;
    let record = first;
    let isOver = false;
    // Bounded by this process's own limit, because the store's clock may be wrong.
    const cancel = clock.after(Math.min(first.pendingMs, this.#pendingMs), () => {
      isOver = true;
    });
    try {
      while (isPending(record)) {
        // Reads once more after the time is over, because the last answer may be from before its end.
        const isLast = isOver;
        if (!isLast) await pause(clock, FOLLOW_POLL_MS);
        const next = await this.#recorder.find(account, key);
        if (next?.id !== first.id) return null;
        record = next;
        if (isLast) break;
      }
      if (isPending(record)) throw new RecordsUnavailableError(UNDECIDED);
      return record;
    } finally {
      cancel();
    }
  }
}

function isPending({ outcome, pendingMs }: OrderRecord): boolean {
  return outcome === null && pendingMs > 0;
}

/** Returns a function that throws an error on, with the name of the argument if the key's time is ahead. */
function withArgument(argument: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof KeyAheadError)) throw error;
    const now = new Date(error.judgedMs).toISOString();
    throw broken(
      argument,
      `has a time over ${KEY_AHEAD_MS / 1_000} seconds ahead: it is ${now} here`,
    );
  };
}

function otherInput(): InputError {
  const argument = 'input.idempotencyKey';
  return new InputError(argument, `${argument} was used for another order.`);
}
