import type { OrderEnd } from '../../gateway/client.ts';
import { GatewayError, NotAttemptedError } from '../../gateway/gateway-error.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import { growingLru } from '../../lib/caches.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Dates } from '../../store/dates.ts';
import { mayHaveChanged, type Reservation, recordId } from '../../store/order-records.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { duplicateNumber, EXPIRED, judgeOrder, type Submission, unknownSince } from './outcome.ts';
import type { Recorder, RecorderOptions } from './recorder.ts';
import type { Ticket } from './ticket.ts';

export interface SubmitterOptions extends RecorderOptions {
  /** A call ends by its own deadline and never rejects. */
  readonly gateway: Pick<ViewerGateway, 'order'>;
  readonly orderTimeoutMs: number;
  /** `position`: the gateway nets positions, so orders that change one position share its number. */
  readonly orderNumbers: 'order' | 'position';
  /** Called when an order has changed its account, or may have, before a client receives the outcome. */
  readonly onAccountChanged: (account: Account) => void;
  readonly dates: () => Dates;
}

const NUMBER_TWICE =
  'two orders were answered with one number: if the gateway nets, set GATEWAY_ORDER_NUMBERS=position';

/** The steps of one order whose key is reserved: send it, judge the exchange, record the outcome. */
export class Submitter {
  readonly #options: SubmitterOptions;
  readonly #recorder: Recorder;
  /**
   * The order numbers that accounts have received recently. A number that an account receives twice belongs to its first
   * order: a proxy may have repeated that order's answer, so the second order's outcome is unknown.
   */
  readonly #seenNumbers = growingLru<string, true>({ maxEntries: 20_000, entryBytes: 200 });

  constructor(options: SubmitterOptions, recorder: Recorder) {
    this.#options = options;
    this.#recorder = recorder;
  }

  /** Throws a GatewayError if the order was certainly not accepted; its key is then free again. */
  async send(viewer: Viewer, ticket: Ticket, reservation: Reservation): Promise<Submission> {
    // Only the callback assigns it, so TypeScript would take the value for null below if there were no cast.
    let late = null as Submission | null;
    const onLate = (end: OrderEnd) => {
      late = this.#judgeLate(viewer, ticket, end);
      if (late !== null) fireAndForget('order record', this.#recorder.settle(reservation, late));
    };
    try {
      const submission = await this.#submit(viewer, ticket, onLate);
      await this.#recorder.settle(reservation, submission);
      // While the unknown outcome was written, another request may have read the late answer.
      return late ?? submission;
    } catch (error) {
      // After any other error the order may have been sent: its record is kept, and its outcome becomes unknown.
      if (error instanceof GatewayError) await this.#recorder.release(reservation);
      throw error;
    }
  }

  isTooLate(ticket: Ticket): boolean {
    return this.#isExpired(this.#withLocalDeadline(ticket));
  }

  /** Drops the account's cached data, before a client learns that the order may have been carried out. */
  report(account: Account, submission: Submission): Submission {
    try {
      if (mayHaveChanged(submission)) this.#options.onAccountChanged(account);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the listener for changed accounts failed');
    }
    return submission;
  }

  async #submit(
    viewer: Viewer,
    given: Ticket,
    onLate: (end: OrderEnd) => void,
  ): Promise<Submission> {
    const { clock, gateway, records, log } = this.#options;
    const startedAtMs = clock.date();
    const ticket = this.#withLocalDeadline(given);
    if (this.#isExpired(ticket)) return EXPIRED;
    let exchange: OrderEnd;
    try {
      const { holdReason } = records.status;
      exchange =
        holdReason === null
          ? await gateway.order(viewer, ticket, onLate)
          : { sent: false, cause: new NotAttemptedError('held', `orders are ${holdReason}`) };
    } catch (error) {
      // A call never rejects. If a bug makes it reject, the order's outcome is unknown.
      log.error(
        { err: error },
        'an order ended in an error of this service: its outcome is unknown',
      );
      return this.report(viewer[ACCOUNT], unknownSince(startedAtMs));
    }
    // An unsent order may be repeated with its key. If the order has expired, a repeat would be even later, so it ends here.
    if (!exchange.sent && this.#isExpired(ticket)) return EXPIRED;
    return this.report(viewer[ACCOUNT], this.#judge(viewer, ticket, exchange));
  }

  #judge({ [ACCOUNT]: account }: Viewer, { operation }: Ticket, exchange: OrderEnd): Submission {
    const { clock, log, orderNumbers } = this.#options;
    if (!exchange.sent) return judgeOrder(operation, exchange);
    const sentAtMs = clock.dateOf(exchange.sentAtMs);
    const submission = judgeOrder(operation, { ...exchange, sentAtMs });
    if (submission.kind !== 'accepted' || orderNumbers === 'position') return submission;
    if (!this.#isRepeated(account, submission.orderId)) return submission;
    log.warn({}, NUMBER_TWICE);
    return duplicateNumber(submission, sentAtMs);
  }

  /** Whether the account has received this order number before. Remembers the number. */
  #isRepeated(account: Account, orderId: string | null): boolean {
    if (orderId === null) return false;
    const id = recordId(account, orderId);
    const isSeen = this.#seenNumbers.has(id);
    this.#seenNumbers.set(id, true);
    return isSeen;
  }

  /** Judges an answer that arrived after the call's deadline. Null if the outcome stays unknown. */
  #judgeLate(viewer: Viewer, ticket: Ticket, late: OrderEnd): Submission | null {
    try {
      const submission = this.#judge(viewer, ticket, late);
      return submission.kind === 'unknown' ? null : this.report(viewer[ACCOUNT], submission);
    } catch (error) {
      return this.#judgeRefused(error);
    }
  }

  /** A late 401, 403 or 429 settles the order as rejected. The key stays used: its client has read `unknown`. */
  #judgeRefused(error: unknown): Submission | null {
    const { log } = this.#options;
    if (!(error instanceof GatewayError) || error.status === null) {
      log.error({ err: error }, 'a late answer could not be judged');
      return null;
    }
    const reason = error.refusal?.error ?? null;
    const message = error.refusal?.message ?? null;
    return { kind: 'rejected', error: reason, message };
  }

  /**
   * Converts the deadline, which is by the `Date` of this server's answers, to this machine's clock. By a slow clock alone,
   * an order would be sent after its deadline.
   */
  #withLocalDeadline(ticket: Ticket): Ticket {
    if (ticket.sendBeforeMs === null) return ticket;
    const { judgedMs, nowMs } = this.#options.dates();
    return { ...ticket, sendBeforeMs: ticket.sendBeforeMs - (judgedMs - nowMs) };
  }

  /** Compares dates, because the client derives the deadline from the dates of this server's answers. */
  #isExpired({ sendBeforeMs }: Ticket): boolean {
    return sendBeforeMs !== null && this.#options.clock.date() > sendBeforeMs;
  }
}
