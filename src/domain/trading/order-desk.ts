import { GatewayError, isGatewayError } from '../../gateway/gateway-error.ts';
import { ACCOUNT } from '../../lib/account.ts';
import type { Log } from '../../lib/log.ts';
import { InputError } from '../../lib/public-error.ts';
import {
  AccountRecordsFullError,
  KeyTooOldError,
  RecordsUnavailableError,
} from '../../store/refusals.ts';
import type { Prover } from '../account/prover.ts';
import { TooManyAttemptsError, type WriteLimits } from '../auth/trading-limits.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { DomainMetrics } from '../domain-metrics.ts';
import { KeyNotVoidedError, leavesDoubt, UnprovedOrderError } from './order-errors.ts';
import type { OrderLines } from './order-line.ts';
import type { Orders } from './orders.ts';
import { isUnsent, type OrderResult } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** Places a viewer's orders in the account's records. This requires proof of the account, because a token only claims it. */
export function createOrderDesk(
  orders: Orders,
  prover: Pick<Prover, 'account' | 'contact'>,
  limits: Pick<WriteLimits, 'order'>,
  metrics: Pick<DomainMetrics, 'orders' | 'doubts'>,
  log: Pick<Log, 'info' | 'warn'>,
  lines: OrderLines,
) {
  /** Every error of this function tells the client that this request did nothing. */
  async function proofOf(viewer: Viewer, operation?: Ticket['operation']) {
    try {
      const proof = await prover.account(viewer);
      if (orders.isClockMeasured) return proof;
      // The proof of a verified token needs no call that would have measured the clock by which keys are judged.
      await prover.contact(viewer);
      // That call may have ended the proof.
      return await prover.account(viewer);
    } catch (error) {
      if (isGatewayError(error, 'unauthenticated', 'forbidden', 'rate-limited')) throw error;
      if (!(error instanceof GatewayError)) throw error;
      const message = 'the token could not be proved';
      const { status, refusal, retryAfterSeconds } = error;
      const details = { status, refusal, retryAfterSeconds, cause: error };
      throw new UnprovedOrderError('unavailable', operation ?? error.operation, message, details);
    }
  }

  /** Another token may have sent the order. While it was awaited, the viewer's token may have been refused. */
  async function proveAgain(viewer: Viewer, result: OrderResult | null, of?: Ticket['operation']) {
    if (result?.replayed) await proofOf(viewer, of);
  }

  /** Counts answers that leave a client in doubt about an earlier request. Unknown outcomes have a count of their own. */
  async function countDoubt<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (leavesDoubt(error)) metrics.doubts.inc();
      throw error;
    }
  }

  function report(viewer: Viewer, ticket: Ticket, result: OrderResult): void {
    const { outcome, replayed } = result;
    // An unsent order that is not replayed has expired, because the outcome of a closed key is always replayed.
    if (!replayed) metrics.orders.inc({ outcome: isUnsent(outcome) ? 'expired' : outcome.kind });
    if (!replayed && outcome.kind === 'unknown') {
      const sentAt = new Date(outcome.sentAtMs).toISOString();
      // The request's own line may be written already, because its client may have disconnected.
      const { [ACCOUNT]: account, requestId } = viewer;
      const hashes = lines.ofKey({ account, key: result.idempotencyKey });
      log.warn({ requestId, ...hashes, sentAt }, 'an order ended unknown');
    }
    log.info(lines.ofOrder(viewer, ticket, result), 'order');
  }

  async function place(viewer: Viewer, ticket: Ticket): Promise<OrderResult> {
    let result: OrderResult;
    try {
      const proof = await proofOf(viewer, ticket.operation);
      result = await limits.order(proof, () => orders.place(viewer, proof, ticket));
      await proveAgain(viewer, result, ticket.operation);
    } catch (error) {
      if (error instanceof Error) log.info(lines.ofOrder(viewer, ticket, error), 'order');
      // The order was not sent, or the gateway refused its sender.
      if (!isCallersOwn(error)) metrics.orders.inc({ outcome: 'unsent' });
      throw error;
    }
    report(viewer, ticket, result);
    return result;
  }

  async function placedBefore(viewer: Viewer, idempotencyKey: string): Promise<OrderResult | null> {
    const result = await orders.placed(await proofOf(viewer), idempotencyKey);
    await proveAgain(viewer, result);
    return result;
  }

  async function close(viewer: Viewer, idempotencyKey: string): Promise<OrderResult> {
    const proof = await proofOf(viewer);
    try {
      const result = await orders.void(proof, idempotencyKey);
      await proveAgain(viewer, result);
      return result;
    } catch (error) {
      // It is a RecordsUnavailableError too, but says more: the key is closed.
      if (error instanceof KeyTooOldError) throw error;
      throw error instanceof RecordsUnavailableError ? new KeyNotVoidedError(error) : error;
    }
  }

  return {
    place: (viewer: Viewer, ticket: Ticket) => countDoubt(place(viewer, ticket)),
    placed: (viewer: Viewer, idempotencyKey: string) =>
      countDoubt(placedBefore(viewer, idempotencyKey)),
    void: (viewer: Viewer, idempotencyKey: string) => countDoubt(close(viewer, idempotencyKey)),
    newKey: () => orders.newKey(),
  };
}

/** Whether the caller causes the error. Forged tokens and floods must not look like a fault of the gateway or the store. */
function isCallersOwn(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof TooManyAttemptsError ||
    error instanceof InputError ||
    error instanceof AccountRecordsFullError
  );
}
