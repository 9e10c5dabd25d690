import { GatewayError, NotAttemptedError } from '../../gateway/errors.ts';
import type { OrderEnd } from '../../gateway/order-calls.ts';
import type { Account } from '../../lib/account.ts';
import { within } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import {
  mayHaveChanged,
  type OrderTimes,
  RecordsUnavailableError,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  recordId,
} from '../../store/order-records.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { KeyClocks } from './key-made.ts';
import { duplicateNumber, EXPIRED, judgeOrder, type Submission, unknownSince } from './outcome.ts';
import type { Recorder, RecorderOptions } from './recorder.ts';
import type { Ticket } from './ticket.ts';

export interface SubmitterOptions extends RecorderOptions, Pick<KeyClocks, 'gatewaySkewMs'> {
  /** A call of it ends by its own deadline and never rejects. */
  readonly gateway: Pick<ViewerGateway, 'order'>;
  readonly orderTimeoutMs: number;
  /** `position`: the gateway nets, so orders that change one position share its number. */
  readonly orderNumbers: 'order' | 'position';
  /** Called when an order has changed its account, or may have, before any client is answered. */
  readonly onAccountChanged: (account: Account) => void;
  /** How much later it is than by this machine's clock; below 0 where that is wrong. */
  readonly gatewayAheadMs: () => number;
}

/** The outcome of an order, and when it was sent and answered. */
interface Verdict {
  readonly submission: Submission;
  readonly times: OrderTimes;
}

// A reservation that took longer is released unsent: other processes may have taken one that was frozen
// meanwhile for dead, and reserved its key.
const RESERVE_PATIENCE_MS = 5_000;
const NUMBER_TWICE =
  'two orders were answered with one number: where the gateway nets, set GATEWAY_ORDER_NUMBERS=position';
const NEVER_SENT: OrderTimes = { sentAtMs: null, answeredAtMs: null };

/** The steps of one order: reserve its key, send it, judge the exchange, record the outcome. */
export class Submitter {
  readonly #options: SubmitterOptions;
  readonly #recorder: Recorder;
  /**
   * The order numbers that the gateway has named to this process lately. A number that comes twice for an account is that of the
   * first order: something between has repeated an answer, and the second order's outcome is unknown.
   */
  readonly #seenNumbers = growingLru<string, true>({ maxEntries: 20_000, entryBytes: 200 });

  constructor(options: SubmitterOptions, recorder: Recorder) {
    this.#options = options;
    this.#recorder = recorder;
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const { clock, records } = this.#options;
    const startedAtMs = clock.now();
    const answer = records.reserve(request);
    const inTime = await within(clock, RESERVE_PATIENCE_MS, answer);
    // Both clocks are checked, because after a freeze the answer may be read before the timer fires.
    const isTimely = clock.now() - startedAtMs <= RESERVE_PATIENCE_MS;
    if (inTime && (isTimely || !inTime.reserved)) return inTime;
    answer.then(
      (late) => (late.reserved ? this.#recorder.release(late.reservation) : undefined),
      () => {},
    );
    throw new RecordsUnavailableError('the order records took too long to answer');
  }

  /** Throws a GatewayError where the order was surely not taken; its key is free again then. */
  async send(viewer: Viewer, ticket: Ticket, reservation: Reservation): Promise<Submission> {
    try {
      const { submission, times } = await this.#submit(viewer, ticket, reservation);
      await this.#recorder.settle(reservation, submission, times);
      return submission;
    } catch (error) {
      // After any other error the order may have been sent: its record stays, and becomes unknown.
      if (error instanceof GatewayError) await this.#recorder.release(reservation);
      throw error;
    }
  }

  /** Whether an order that comes now is never sent. */
  isTooLate(ticket: Ticket): boolean {
    return this.#isExpired(this.#byGateway(ticket));
  }

  /** Drops what is cached of the account, before its client learns that the order may have been carried out. */
  report(account: Account, submission: Submission): Submission {
    try {
      if (mayHaveChanged(submission)) this.#options.onAccountChanged(account);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the listener for changed accounts failed');
    }
    return submission;
  }

  async #submit(viewer: Viewer, asked: Ticket, reservation: Reservation): Promise<Verdict> {
    const { clock, gateway, records, log } = this.#options;
    const startedAtMs = clock.date();
    const ticket = this.#byGateway(asked);
    if (this.#isExpired(ticket)) return { submission: EXPIRED, times: NEVER_SENT };
    let exchange: OrderEnd;
    try {
      const hold = records.status.holdReason;
      exchange =
        hold === null
          ? await gateway.order(viewer, ticket, (late) =>
              this.#judgeLate(viewer, ticket, reservation, late),
            )
          : { sent: false, cause: new NotAttemptedError('held', `orders are ${hold}`) };
    } catch (error) {
      // A call never rejects; where a bug makes one reject, the order's outcome is unknown.
      log.error({ err: error }, 'an order ended in an error of the facade: its outcome is unknown');
      const submission = this.report(viewer.account, unknownSince(startedAtMs));
      return { submission, times: NEVER_SENT };
    }
    // A repeat could only come later still, so an order that was never sent ends here.
    if (!exchange.sent && this.#isExpired(ticket)) {
      return { submission: EXPIRED, times: NEVER_SENT };
    }
    const verdict = this.#judge(viewer, ticket, exchange);
    this.report(viewer.account, verdict.submission);
    return verdict;
  }

  #judge({ account }: Viewer, { operation }: Ticket, exchange: OrderEnd): Verdict {
    const { clock, log, orderNumbers } = this.#options;
    if (!exchange.sent) return { submission: judgeOrder(operation, exchange), times: NEVER_SENT };
    const sentAtMs = clock.dateOf(exchange.sentAtMs);
    const times = { sentAtMs, answeredAtMs: exchange.answered ? clock.date() : null };
    let submission = judgeOrder(operation, { ...exchange, sentAtMs });
    if (
      submission.kind === 'accepted' &&
      orderNumbers === 'order' &&
      this.#wasSeen(account, submission.orderId)
    ) {
      log.warn({}, NUMBER_TWICE);
      submission = duplicateNumber(submission, sentAtMs);
    }
    return { submission, times };
  }

  #wasSeen(account: Account, orderId: string | null): boolean {
    if (orderId === null) return false;
    const id = recordId(account, orderId);
    const isSeen = this.#seenNumbers.has(id);
    this.#seenNumbers.set(id, true);
    return isSeen;
  }

  /** Judges an answer that came after the call had ended by its deadline. */
  #judgeLate(viewer: Viewer, ticket: Ticket, reservation: Reservation, late: OrderEnd): void {
    try {
      const { submission, times } = this.#judge(viewer, ticket, late);
      if (submission.kind !== 'unknown') this.report(viewer.account, submission);
      this.#recorder.settleLate(reservation, submission, times);
    } catch (error) {
      this.#settleRefused(reservation, error);
    }
  }

  /** Settles as rejected by a late 401, 403 or 429: the key stays used, since the client has read that the outcome is unknown. */
  #settleRefused(reservation: Reservation, error: unknown): void {
    const { clock, log } = this.#options;
    if (!(error instanceof GatewayError) || error.status === null) {
      log.error({ err: error }, 'a late answer');
      return;
    }
    const { refusal } = error;
    const [reason, message] = [refusal?.error ?? null, refusal?.message ?? null];
    const times = { sentAtMs: null, answeredAtMs: clock.date() };
    this.#recorder.settleLate(reservation, { kind: 'rejected', error: reason, message }, times);
  }

  /**
   * Judges by the later of two dates: where this machine's clock is slow, an order would go out after its moment. Where it is wrong
   * the gateway's alone counts.
   */
  #byGateway(ticket: Ticket): Ticket {
    const { sendBeforeMs } = ticket;
    return {
      ...ticket,
      sendBeforeMs: sendBeforeMs && sendBeforeMs - this.#options.gatewayAheadMs(),
    };
  }

  /** Compares dates: the moment was named by a client, from the dates of this server's answers. */
  #isExpired({ sendBeforeMs }: Ticket): boolean {
    return sendBeforeMs !== null && this.#options.clock.date() > sendBeforeMs;
  }
}
