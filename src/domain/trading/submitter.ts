import type { Account } from '../../../lib/account.ts';
import { within } from '../../../lib/clock.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import { GatewayError, NotAttemptedError } from '../../gateway/errors.ts';
import type { Exchange } from '../../gateway/exchange.ts';
import {
  mayHaveChanged,
  RecordsUnavailableError,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  recordId,
} from '../../store/order-records.ts';
import type { OrderTrail } from '../../store/order-trail.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { KeyClocks } from './key-made.ts';
import { askedOf, failureOf, outcomeOf } from './order-line.ts';
import { duplicateNumber, EXPIRED, judgeOrder, type Submission, unknownSince } from './outcome.ts';
import type { Recorder, RecorderOptions } from './recorder.ts';
import type { Ticket } from './ticket.ts';

export interface SubmitterOptions extends RecorderOptions, Pick<KeyClocks, 'gatewaySkewMs'> {
  /** A call of it ends by its own deadline and never rejects. */
  readonly gateway: Pick<ViewerGateway, 'order'>;
  readonly orderTimeoutMs: number;
  /** `position`: the gateway nets, and orders that change one position are told its number. */
  readonly orderNumbers?: 'order' | 'position';
  /** Called when an order has changed its account, or may have, before any client is answered. */
  readonly onAccountChanged: (account: Account) => void;
  /** How much later it is than by this machine's clock; below 0 where that is wrong. */
  readonly gatewayAheadMs: () => number;
  /** Called when the gateway has told an account's order number for a second key. */
  readonly onNumberTwice?: () => void;
  readonly trail: Pick<OrderTrail, 'add'>;
  /** Called with what an order became whose client was told that it is not known. */
  readonly onSettledLate?: (outcome: 'accepted' | 'rejected') => void;
}

// A reservation that took longer is released unsent: other processes may have taken one that was frozen
// meanwhile for dead, and reserved its key.
const RESERVE_PATIENCE_MS = 5_000;
const NUMBER_TWICE =
  'two orders were answered with one number: where the gateway nets, set GATEWAY_ORDER_NUMBERS=position';
/** The gateway call ends by itself; this much later it is no longer awaited. */
const OVERDUE_MS = 1_000;

/** The steps of one order: reserve its key, send it, judge the exchange, record the outcome. */
export function createSubmitter(options: SubmitterOptions, recorder: Recorder) {
  const { records, clock, log, gateway, orderTimeoutMs, gatewayAheadMs, trail } = options;
  const { orderNumbers = 'order' } = options;
  /**
   * The order numbers that the gateway has named to this process lately. A number that comes twice for an account is that of the
   * first order: something between has repeated an answer, which says nothing of the second order.
   */
  const seenOrderNumbers = growingLru<string, true>({ maxEntries: 20_000, entryBytes: 200 });

  /**
   * Judges by the later of two dates: where this machine's clock is behind, an order would go out after its moment. Where it is wrong
   * the gateway's alone counts.
   */
  const byGateway = (ticket: Ticket): Ticket => ({
    ...ticket,
    sendBeforeMs: ticket.sendBeforeMs && ticket.sendBeforeMs - gatewayAheadMs(),
  });

  /** Compares dates: the moment was named by a client, from the dates of this server's answers. */
  const isExpired = ({ sendBeforeMs }: Ticket) =>
    sendBeforeMs !== null && clock.date() > sendBeforeMs;

  async function verdictOn(
    viewer: Viewer,
    asked: Ticket,
    onSent: (sentAtMs: number) => void,
    onLate: (exchange: Exchange) => void,
  ): Promise<Submission> {
    const startedAtMs = clock.date();
    const ticket = byGateway(asked);
    if (isExpired(ticket)) return EXPIRED;
    let exchange: Exchange;
    try {
      const hold = records.holdReason();
      exchange =
        hold === null
          ? await gateway.order(viewer, ticket, onLate)
          : { sent: false, cause: new NotAttemptedError('held', `orders are ${hold}`) };
    } catch (error) {
      // A call never rejects; where a bug makes one reject, the order's outcome is unknown.
      const message = 'an order ended in an error of the facade: its outcome is unknown';
      log.error({ err: error }, message);
      return report(viewer.account, unknownSince(startedAtMs));
    }
    if (exchange.sent) onSent(clock.dateOf(exchange.sentAtMs));
    // A repeat could only come later still, so this is the end of what the gateway never heard of.
    if (!exchange.sent && isExpired(ticket)) return EXPIRED;
    return report(viewer.account, judge(viewer, ticket, exchange));
  }

  function judge({ account }: Viewer, { operation }: Ticket, exchange: Exchange): Submission {
    if (!exchange.sent) return judgeOrder(operation, exchange);
    const sentAtMs = clock.dateOf(exchange.sentAtMs);
    const submission = judgeOrder(operation, { ...exchange, sentAtMs });
    if (submission.kind !== 'accepted') return submission;
    const { orderId } = submission;
    // An empty one, or zero, names no order.
    if (orderId === null || Number(orderId) === 0 || orderNumbers === 'position') return submission;
    const id = recordId(account, orderId);
    const isNew = !seenOrderNumbers.has(id);
    seenOrderNumbers.set(id, true);
    if (isNew) return submission;
    options.onNumberTwice?.();
    log.warn({}, NUMBER_TWICE);
    return duplicateNumber(submission, sentAtMs);
  }

  /** Settles an order by an answer that came after its client was told that the outcome is not known. */
  function settleLate(viewer: Viewer, ticket: Ticket, of: Reservation, exchange: Exchange): void {
    let submission: Submission;
    try {
      submission = judge(viewer, ticket, exchange);
    } catch (error) {
      const rejected = rejectedLate(error);
      if (rejected === null) {
        log.error({ err: error }, 'a late answer');
        return;
      }
      submission = rejected;
    }
    trail.add(of, 'answered late', outcomeOf(submission));
    if (submission.kind === 'unknown') return;
    report(viewer.account, submission);
    options.onSettledLate?.(submission.kind);
    fireAndForget('order record', recorder.settle(of, submission));
  }

  /** A client that is told that an order was or may have been carried out reads no older account afterwards. */
  function report(account: Account, submission: Submission): Submission {
    try {
      if (mayHaveChanged(submission)) options.onAccountChanged(account);
    } catch (error) {
      log.error({ err: error }, 'the listener for changed accounts failed');
    }
    return submission;
  }

  return {
    report,
    /** Whether an order that comes now is never sent. */
    isTooLate: (ticket: Ticket) => isExpired(byGateway(ticket)),
    async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
      const startedAtMs = clock.now();
      const answer = records.reserve(request);
      const inTime = await within(clock, RESERVE_PATIENCE_MS, answer);
      // Both clocks are checked, because after a freeze the answer may be read before the timer fires.
      const isTimely = clock.now() - startedAtMs <= RESERVE_PATIENCE_MS;
      if (inTime && (isTimely || !inTime.reserved)) return inTime;
      answer.then(
        (late) => (late.reserved ? recorder.release(late.reservation) : undefined),
        () => {},
      );
      throw new RecordsUnavailableError('the order records took too long to answer');
    },
    /** Throws a GatewayError where the order was surely not taken; its key is free again then. */
    async send(viewer: Viewer, ticket: Ticket, reservation: Reservation): Promise<Submission> {
      const startedAtMs = clock.date();
      const { requestId } = viewer;
      trail.add(reservation, 'asked', { requestId, ...askedOf(ticket) });
      let sentAt: string | null = null;
      const onSent = (ms: number) => {
        sentAt = new Date(ms).toISOString();
      };
      const verdict = verdictOn(viewer, ticket, onSent, (late) =>
        settleLate(viewer, ticket, reservation, late),
      );
      let submission: Submission | null;
      try {
        submission = await within(clock, orderTimeoutMs + OVERDUE_MS, verdict);
      } catch (error) {
        // Any other error says nothing about the order: its record stays, and becomes unknown.
        if (error instanceof GatewayError) {
          trail.add(reservation, 'answered', { sentAt, ...failureOf(error) });
          await recorder.release(reservation);
        }
        throw error;
      }
      if (submission === null) {
        const settleOverdue = (late: Submission | null) => {
          if (late === null) return;
          trail.add(reservation, 'answered late', outcomeOf(late));
          return recorder.settle(reservation, late);
        };
        verdict.then(settleOverdue, (error: unknown) => settleOverdue(rejectedLate(error)));
        submission = report(viewer.account, unknownSince(startedAtMs));
      }
      trail.add(reservation, 'answered', { sentAt, ...outcomeOf(submission) });
      await recorder.settle(reservation, submission);
      return submission;
    },
  };
}

/** A 401, 403 or 429 that came too late to free the key: the client was told that the order may have been taken. */
function rejectedLate(error: unknown): Submission | null {
  if (!(error instanceof GatewayError) || error.status === null) return null;
  const { refusal } = error;
  return { kind: 'rejected', error: refusal?.error ?? null, message: refusal?.message ?? null };
}
