import { GatewayError } from '../../gateway/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { type OrderRecord, type OrderRecords, recordId } from '../../store/order-records.ts';
import type { AccountProof } from '../auth/proof.ts';
import { detached, type Viewer } from '../auth/viewer.ts';
import { InputError } from '../input-error.ts';
import { canonical } from './canonical.ts';
import { type FollowOptions, follow } from './follow.ts';
import type { Submission } from './outcome.ts';
import { type OrderLog, Recorder } from './recorder.ts';
import { toSubmission } from './submission-record.ts';
import { type OrderGateway, Submitter } from './submitter.ts';
import type { Ticket } from './ticket.ts';

export interface OrdersOptions {
  readonly gateway: OrderGateway;
  readonly records: OrderRecords;
  readonly clock: Clock;
  readonly orderTimeoutMs: number;
  /** Called as soon as the gateway has accepted an order, before any client is answered. */
  readonly onAccepted: (viewer: Viewer) => void;
  readonly log: OrderLog;
}

export interface Placed {
  readonly outcome: Submission;
  readonly idempotencyKey: string;
  /** Nothing was sent for this answer: it is the recorded outcome of an earlier request. */
  readonly replayed: boolean;
}

interface InFlightOrder {
  readonly canonical: string;
  /** Resolves to true once the key is reserved for this order, to false where it ended without a reservation. */
  readonly isFirst: Promise<boolean>;
  readonly done: Promise<Placed>;
}

/** Time to record the outcome before others take a pending order's process for dead. */
const RECORDING_MS = 2_000;

/** Places orders, each at most once per key, and returns their outcomes. */
export class Orders {
  readonly #options: OrdersOptions;
  readonly #recorder: Recorder;
  readonly #submitter: Submitter;
  readonly #pendingMs: number;
  readonly #following: FollowOptions;
  /** Orders in flight in this process. They outlive their requests, whose clients may have disconnected. */
  readonly #inFlight = new Map<string, InFlightOrder>();

  constructor(options: OrdersOptions) {
    this.#options = options;
    this.#recorder = new Recorder(options);
    this.#submitter = new Submitter({ ...options, recorder: this.#recorder });
    this.#pendingMs = options.orderTimeoutMs + RECORDING_MS;
    this.#following = { ...options, longestMs: this.#pendingMs };
  }

  /** The number of orders in flight. */
  get underWay(): number {
    return this.#inFlight.size;
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
        if (await inFlight.isFirst) throw otherInput();
        await inFlight.done.catch(() => {});
        continue;
      }
      try {
        return { ...(await inFlight.done), replayed: true };
      } catch (error) {
        // The failure was about the first request's token; this one's may be accepted.
        if (!isAboutToken(error)) throw error;
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
      const followed = record && (await follow(this.#following, login, key, record));
      if (followed) return { outcome: outcomeOf(followed), idempotencyKey: key, replayed: true };
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
    this.#inFlight.set(id, { canonical: digest, isFirst, done });
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
      const record = await follow(this.#following, login, idempotencyKey, answer.record);
      if (record) return { outcome: outcomeOf(record), idempotencyKey, replayed: true };
    }
  }
}

/** Past its deadline a pending order's process is dead, and whether the gateway got the order is unknown. */
function outcomeOf({ outcome, reservedAtMs }: OrderRecord): Submission {
  if (outcome) return toSubmission(outcome);
  return { outcome: 'unknown', sentAt: new Date(reservedAtMs), message: null };
}

function otherInput(): InputError {
  const argument = 'input.idempotencyKey';
  return new InputError(argument, `${argument} was used for another order.`);
}

function isAboutToken(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    (error.kind === 'unauthenticated' || error.kind === 'forbidden')
  );
}
