import { GatewayError } from '../../gateway/errors.ts';
import type { Exchange } from '../../gateway/exchange.ts';
import type { LimitOrder, MarketOrder } from '../../gateway/model.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type OrderRecords,
  RecordsUnavailableError,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
} from '../../store/order-records.ts';
import type { Viewer } from '../auth/viewer.ts';
import { judgeOrder, type Submission } from './outcome.ts';
import type { OrderLog, Recorder } from './recorder.ts';
import { toRecorded } from './submission-record.ts';
import type { Ticket } from './ticket.ts';

/** The two order calls of the gateway, which end by their own deadline and never reject. */
export interface OrderGateway {
  openPosition(viewer: Viewer, order: MarketOrder): Promise<Exchange>;
  placeLimitOrder(viewer: Viewer, order: LimitOrder): Promise<Exchange>;
}

export interface SubmitterOptions {
  readonly gateway: OrderGateway;
  readonly records: OrderRecords;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly orderTimeoutMs: number;
  readonly onAccepted: (viewer: Viewer) => void;
  readonly log: OrderLog;
}

// A reservation that took longer is released unsent: other processes may have taken one that was frozen
// meanwhile for dead, and reserved its key.
const RESERVE_PATIENCE_MS = 5_000;
/** The gateway call ends by itself; this much later it is no longer awaited. */
const OVERDUE_MS = 1_000;

/** The steps of one order: reserve its key, send it, judge the exchange, record the outcome. */
export class Submitter {
  readonly #options: SubmitterOptions;

  constructor(options: SubmitterOptions) {
    this.#options = options;
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const { records, recorder, clock } = this.#options;
    const startedAtMs = clock.now();
    const answer = records.reserve(request);
    const { promise: patience, resolve } = Promise.withResolvers<null>();
    const cancel = clock.after(RESERVE_PATIENCE_MS, () => resolve(null));
    const inTime = await Promise.race([answer, patience]).finally(cancel);
    // Both clocks are checked, because after a freeze the answer may be read before the timer fires.
    const isTimely = clock.now() - startedAtMs <= RESERVE_PATIENCE_MS;
    if (inTime && (isTimely || !inTime.reserved)) return inTime;
    answer.then(
      (late) => (late.reserved ? recorder.release(late.reservation) : undefined),
      () => {},
    );
    throw new RecordsUnavailableError('the order records took too long to answer');
  }

  /** Throws a GatewayError where the order was surely not taken; its key is free again then. */
  async send(viewer: Viewer, ticket: Ticket, reservation: Reservation): Promise<Submission> {
    const { recorder, clock, orderTimeoutMs } = this.#options;
    const startedAtMs = clock.now();
    const verdict = this.#verdict(viewer, ticket, startedAtMs);
    const { promise: overdue, resolve } = Promise.withResolvers<null>();
    const cancel = clock.after(orderTimeoutMs + OVERDUE_MS, () => resolve(null));
    let submission: Submission | null;
    try {
      submission = await Promise.race([verdict, overdue]).finally(cancel);
    } catch (error) {
      // Any other error says nothing about the order: its record stays, and becomes unknown.
      if (error instanceof GatewayError) await recorder.release(reservation);
      throw error;
    }
    if (submission === null) {
      verdict.then(
        (late) => recorder.settle(reservation, toRecorded(late)),
        () => {},
      );
      submission = unknownSince(startedAtMs);
    }
    await recorder.settle(reservation, toRecorded(submission));
    return submission;
  }

  async #verdict(viewer: Viewer, ticket: Ticket, startedAtMs: number): Promise<Submission> {
    let exchange: Exchange;
    try {
      exchange = await this.#call(viewer, ticket);
    } catch (error) {
      // A call never rejects; where a bug makes one reject, the order's outcome is unknown.
      const message = 'an order ended in an error of the facade: its outcome is unknown';
      this.#options.log.error({ err: error }, message);
      return unknownSince(startedAtMs);
    }
    const submission = judgeOrder(ticket.operation, exchange);
    if (submission.outcome === 'accepted') this.#reportAccepted(viewer);
    return submission;
  }

  async #call(viewer: Viewer, ticket: Ticket): Promise<Exchange> {
    const { gateway } = this.#options;
    return ticket.operation === 'openPosition'
      ? gateway.openPosition(viewer, ticket.order)
      : gateway.placeLimitOrder(viewer, ticket.order);
  }

  #reportAccepted(viewer: Viewer): void {
    try {
      this.#options.onAccepted(viewer);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the listener for accepted orders failed');
    }
  }
}

function unknownSince(sentAtMs: number): Submission {
  return { outcome: 'unknown', sentAt: new Date(sentAtMs), message: null };
}
