import { isGatewayError } from '../../gateway/errors.ts';
import { type OrderRecord, recordId } from '../../store/order-records.ts';
import type { AccountProof } from '../auth/proof.ts';
import { detached, type Viewer } from '../auth/viewer.ts';
import { InputError } from '../input-error.ts';
import type { Submission } from './outcome.ts';
import { outcomeOf, Recorder } from './recorder.ts';
import { Submitter, type SubmitterOptions } from './submitter.ts';
import { canonical, type Ticket } from './ticket.ts';

export interface Placed {
  readonly outcome: Submission;
  readonly idempotencyKey: string;
  /** Nothing was sent for this answer: it is the recorded outcome of an earlier request. */
  readonly replayed: boolean;
}

interface InFlightOrder {
  readonly sinceMs: number;
  readonly canonical: string;
  /** Resolves to true once the key is reserved for this order, to false where it ended without a reservation. */
  readonly isFirst: Promise<boolean>;
  readonly done: Promise<Placed>;
}

/** Time to record the outcome before others take a pending order's process for dead. */
const RECORDING_MS = 2_000;
const FOLLOW_POLL_MS = 100;

/** Places orders, each at most once per key, and returns their outcomes. */
export class Orders {
  readonly #options: SubmitterOptions;
  readonly #recorder: Recorder;
  readonly #submitter: Submitter;
  readonly #pendingMs: number;
  /** Orders in flight in this process. They outlive their requests, whose clients may have disconnected. */
  readonly #inFlight = new Map<string, InFlightOrder>();

  constructor(options: SubmitterOptions) {
    this.#options = options;
    this.#recorder = new Recorder(options);
    this.#submitter = new Submitter(options, this.#recorder);
    this.#pendingMs = options.orderTimeoutMs + RECORDING_MS;
  }

  /** The number of orders in flight. */
  get underWay(): number {
    return this.#inFlight.size;
  }

  /** The age of the oldest order in flight; 0 where there is none. */
  get oldestSeconds(): number {
    // Insertion order is the order of time.
    const [oldest] = this.#inFlight.values();
    return oldest ? Math.max(0, this.#options.clock.now() - oldest.sinceMs) / 1000 : 0;
  }

  /**
   * Throws an InputError (another order has this key), a RecordsUnavailableError (nothing was sent)
   * or a GatewayError (the order was surely not taken, its key is free).
   */
  async place(viewer: Viewer, proof: AccountProof, ticket: Ticket): Promise<Placed> {
    if (viewer.login !== proof.login) throw new Error('the proof is of another account');
    const digest = canonical(ticket);
    const id = recordId(proof.login, ticket.idempotencyKey);
    for (;;) {
      const inFlight = this.#inFlight.get(id);
      if (!inFlight) return this.#take(id, detached(viewer), ticket, digest);
      if (inFlight.canonical !== digest) {
        // False once it is over, and in flight no more.
        if (await inFlight.isFirst) throw otherInput();
        continue;
      }
      try {
        return { ...(await inFlight.done), replayed: true };
      } catch (error) {
        // The failure was about the first request's token; this one's may be accepted.
        if (!isGatewayError(error, 'unauthenticated', 'forbidden')) throw error;
      }
    }
  }

  /** The outcome under a key; waits while the order is in flight. Null where nothing is recorded. */
  async placed(proof: AccountProof, key: string): Promise<Placed | null> {
    const { login } = proof;
    const id = recordId(login, key);
    for (;;) {
      const inFlight = this.#inFlight.get(id);
      const placed = await inFlight?.done.catch(() => null);
      if (placed) return { ...placed, replayed: true };
      const record = await this.#options.records.find(login, key);
      // An order that began meanwhile is in flight as well.
      if (!record && !this.#inFlight.has(id)) return null;
      const followed = record && (await this.#follow(login, key, record));
      if (followed) return this.#replayed(login, key, followed);
    }
  }

  /** Resolves when no order is in flight and no outcome waits to be recorded. */
  async drain(): Promise<void> {
    for (;;) {
      const unfinished = [...this.#inFlight.values()].map(({ done }) => done);
      const waiting = [...unfinished, ...this.#recorder.unwritten];
      if (waiting.length === 0) return;
      await Promise.allSettled(waiting);
    }
  }

  #take(id: string, viewer: Viewer, ticket: Ticket, digest: string): Promise<Placed> {
    const { promise: isFirst, resolve } = Promise.withResolvers<boolean>();
    const done = this.#run(viewer, ticket, digest, () => resolve(true)).finally(() => {
      this.#inFlight.delete(id);
      resolve(false);
    });
    const sinceMs = this.#options.clock.now();
    this.#inFlight.set(id, { sinceMs, canonical: digest, isFirst, done });
    return done;
  }

  async #run(
    viewer: Viewer,
    ticket: Ticket,
    digest: string,
    onReserved: () => void,
  ): Promise<Placed> {
    const { login } = viewer;
    const { idempotencyKey } = ticket;
    for (;;) {
      const answer = await this.#submitter.reserve({
        login,
        key: idempotencyKey,
        canonical: digest,
        reservedAtMs: this.#options.clock.now(),
        pendingMs: this.#pendingMs,
      });
      if (answer.reserved) {
        onReserved();
        const outcome = await this.#submitter.send(viewer, ticket, answer.reservation);
        return { outcome, idempotencyKey, replayed: false };
      }
      if (answer.record.canonical !== digest) throw otherInput();
      const record = await this.#follow(login, idempotencyKey, answer.record);
      if (record) return this.#replayed(login, idempotencyKey, record);
    }
  }

  /** Another process may have sent it, and changed the account behind what this one has in memory. */
  #replayed(login: string, idempotencyKey: string, record: OrderRecord): Placed {
    const outcome = this.#submitter.report(login, outcomeOf(record));
    return { outcome, idempotencyKey, replayed: true };
  }

  /**
   * Waits for a pending record of another process until it has an outcome, or its time is up. Null where
   * its key was released meanwhile. Timers measure the wait, so that clock corrections do not affect it.
   */
  async #follow(login: string, key: string, first: OrderRecord): Promise<OrderRecord | null> {
    const { records, clock } = this.#options;
    let record = first;
    let isOver = false;
    // Bounded by this process's own limit, whatever a store's clock says.
    const cancel = clock.after(Math.min(first.pendingMs, this.#pendingMs), () => {
      isOver = true;
    });
    try {
      while (record.outcome === null && record.pendingMs > 0 && !isOver) {
        await new Promise<void>((resolve) => clock.after(FOLLOW_POLL_MS, resolve));
        const next = await records.find(login, key);
        if (next?.id !== first.id) return null;
        record = next;
      }
      return record;
    } finally {
      cancel();
    }
  }
}

function otherInput(): InputError {
  const argument = 'input.idempotencyKey';
  return new InputError(argument, `${argument} was used for another order.`);
}
