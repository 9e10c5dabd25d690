import { GatewayError } from '../../gateway/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { type OrderRecord, type OrderRecords, recordId } from '../../store/order-records.ts';
import type { AccountProof } from '../auth/proof.ts';
import { detached, type Viewer } from '../auth/viewer.ts';
import { InputError } from '../input-error.ts';
import { canonical } from './canonical.ts';
import { type FollowOptions, follow } from './follow.ts';
import type { OrderGateway } from './order-gateway.ts';
import type { Submission } from './outcome.ts';
import { type OrderLog, Recorder } from './recorder.ts';
import { toSubmission } from './submission-record.ts';
import { Submitter } from './submitter.ts';
import type { Ticket } from './ticket.ts';

export interface OrdersOptions {
  readonly gateway: OrderGateway;
  readonly records: OrderRecords;
  readonly clock: Clock;
  readonly orderTimeoutMs: number;
  /** Called as soon as the gateway has accepted an order, before anybody is answered. */
  readonly onAccepted: (viewer: Viewer) => void;
  readonly log: OrderLog;
}

export interface Placed {
  readonly outcome: Submission;
  readonly idempotencyKey: string;
  /** Nothing was sent for this answer: it is what became of an earlier one. */
  readonly replayed: boolean;
}

interface InFlightOrder {
  readonly canonical: string;
  /** True once the key is reserved for this inFlight; false where it ended without. */
  readonly isFirst: Promise<boolean>;
  readonly done: Promise<Placed>;
}

/** Time for the outcome to be written down before others take a pending order's sender for dead. */
const RECORDING_MS = 2_000;

/** Places orders, each at most once per key, and tells what became of them. */
export class Orders {
  readonly #options: OrdersOptions;
  readonly #recorder: Recorder;
  readonly #submitter: Submitter;
  readonly #pendingMs: number;
  readonly #following: FollowOptions;
  /** Orders under way here. They belong to nobody's request: who asked may long be gone. */
  readonly #inFlight = new Map<string, InFlightOrder>();

  constructor(options: OrdersOptions) {
    this.#options = options;
    this.#recorder = new Recorder(options);
    this.#submitter = new Submitter({ ...options, recorder: this.#recorder });
    this.#pendingMs = options.orderTimeoutMs + RECORDING_MS;
    this.#following = { ...options, longestMs: this.#pendingMs };
  }

  /** How many orders are under way. */
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
        // That was about the first one's token; this one may have a better one.
        if (!isAboutToken(error)) throw error;
      }
    }
  }

  /** What became of a key; waits where it is under way. Null where nothing is on record. */
  async placed(proof: AccountProof, key: string): Promise<Placed | null> {
    const { login } = proof;
    const id = recordId(login, key);
    for (;;) {
      const inFlight = this.#inFlight.get(id);
      const placed = await inFlight?.done.catch(() => null);
      if (placed) return { ...placed, replayed: true };
      const record = await this.#options.records.find(login, key);
      // One that began meanwhile is under way as well.
      if (!record && !this.#inFlight.has(id)) return null;
      const followed = record && (await follow(this.#following, login, key, record));
      if (followed) return { outcome: outcomeOf(followed), idempotencyKey: key, replayed: true };
    }
  }

  /** Resolves when no order is under way and no outcome waits to be written down. */
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

/** Past its deadline a pending order's sender is dead, and nobody knows what it got done. */
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
