import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { InputError } from '../../lib/input-error.ts';
import type { Log } from '../../lib/log.ts';
import { AccountRecordsFullError, RecordsUnavailableError } from '../../store/order-records.ts';
import type { Prover } from '../account/prover.ts';
import { TooManyAttemptsError } from '../auth/errors.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { WriteLimits } from '../auth/write-limits.ts';
import type { DomainMetrics } from '../domain-metrics.ts';
import {
  KeyForgottenError,
  KeyNotVoidedError,
  leavesDoubt,
  UnprovedOrderError,
} from './order-errors.ts';
import type { OrderLines } from './order-line.ts';
import type { Orders } from './orders.ts';
import { isUnsent, type OrderResult } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** Places a viewer's orders in the account's records. This requires proof of the account, because a token only claims it. */
export function createOrderDesk(
  orders: Orders,
  prover: Pick<Prover, 'account'>,
  limits: Pick<WriteLimits, 'order'>,
  metrics: Pick<DomainMetrics, 'orders' | 'doubts'>,
  log: Pick<Log, 'info' | 'warn'>,
  lines: OrderLines,
) {
  /** Throws an error by which the client knows that this request did nothing. */
  async function proofBefore(viewer: Viewer, operation?: Ticket['operation']) {
    try {
      return await prover.account(viewer);
    } catch (error) {
      const isAboutSender = isGatewayError(error, 'unauthenticated', 'forbidden', 'rate-limited');
      if (isAboutSender || !(error instanceof GatewayError)) throw error;
      const message = 'the token could not be proved';
      const { status, refusal, retryAfterSeconds } = error;
      const details = { status, refusal, retryAfterSeconds, cause: error };
      throw new UnprovedOrderError('unavailable', operation ?? error.operation, message, details);
    }
  }

  /** Counts answers that leave their client in doubt about an order. */
  async function counted<T extends OrderResult | null>(asked: Promise<T>): Promise<T> {
    try {
      const placed = await asked;
      if (placed?.outcome.kind !== 'unknown' && placed?.earlierUnknown) metrics.doubts.inc();
      return placed;
    } catch (error) {
      if (leavesDoubt(error)) metrics.doubts.inc();
      throw error;
    }
  }

  function note(viewer: Viewer, ticket: Ticket, placed: OrderResult): void {
    const { outcome, replayed } = placed;
    if (!replayed) metrics.orders.inc({ outcome: isUnsent(outcome) ? 'expired' : outcome.kind });
    if (!replayed && outcome.kind === 'unknown') {
      const sentAt = new Date(outcome.sentAtMs).toISOString();
      // The request's own line may be written already, because its client may have disconnected.
      const { account, requestId } = viewer;
      const of = lines.ofKey({ account, key: placed.idempotencyKey });
      log.warn({ requestId, ...of, sentAt }, 'an order ended unknown');
    }
    log.info(lines.ofOrder(viewer, ticket, placed), 'order');
  }

  async function place(viewer: Viewer, ticket: Ticket): Promise<OrderResult> {
    let placed: OrderResult;
    try {
      const proof = await proofBefore(viewer, ticket.operation);
      placed = await limits.order(proof, () => orders.place(viewer, proof, ticket));
    } catch (error) {
      if (error instanceof Error) log.info(lines.ofOrder(viewer, ticket, error), 'order');
      // The order was not sent, or the gateway refused its sender.
      if (!isCallersOwn(error)) metrics.orders.inc({ outcome: 'unsent' });
      throw error;
    }
    note(viewer, ticket, placed);
    return placed;
  }

  async function placedBefore(viewer: Viewer, idempotencyKey: string): Promise<OrderResult | null> {
    return orders.placed(await proofBefore(viewer), idempotencyKey);
  }

  async function close(
    viewer: Viewer,
    idempotencyKey: string,
    sinceMs: number | null,
  ): Promise<OrderResult> {
    const proof = await proofBefore(viewer);
    try {
      return await orders.void(proof, idempotencyKey, sinceMs);
    } catch (error) {
      if (error instanceof KeyForgottenError) throw error;
      throw error instanceof RecordsUnavailableError ? new KeyNotVoidedError(error) : error;
    }
  }

  return {
    place: (viewer: Viewer, ticket: Ticket) => counted(place(viewer, ticket)),
    placed: (viewer: Viewer, idempotencyKey: string) =>
      counted(placedBefore(viewer, idempotencyKey)),
    /** `sinceMs`: when the client made the key, by this server's date; null if it does not state it. */
    void: (viewer: Viewer, idempotencyKey: string, sinceMs: number | null) =>
      counted(close(viewer, idempotencyKey, sinceMs)),
  };
}

/** Forged tokens and a flooding account must not look like a fault of the gateway or the store. */
function isCallersOwn(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof TooManyAttemptsError ||
    error instanceof InputError ||
    error instanceof AccountRecordsFullError
  );
}
