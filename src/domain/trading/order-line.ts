import { GatewayError } from '../../gateway/gateway-error.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import { logHash } from '../../lib/log-hash.ts';
import { redact } from '../../lib/redact.ts';
import type { AskedOrder } from '../../store/order-records.ts';
import { partsOf, type Viewer } from '../auth/viewer.ts';
import { isBeforeSending, leavesDoubt } from './order-errors.ts';
import type { OrderResult, Submission } from './outcome.ts';
import type { Ticket } from './ticket.ts';

// A client may send any text as a symbol, even a very long one.
const MAX_SYMBOL_LENGTH = 64;

export type OrderLines = ReturnType<typeof orderLines>;

/**
 * Makes an order's log line: the request and its outcome, so that a disputed order can be found by its account, its key,
 * its number or its request. The key is hashed: with the key itself, a reader of the log could void the key.
 */
export function orderLines(hashKey: string | null) {
  const ofKey = ({ account, key }: { readonly account: Account; readonly key: string }) => {
    const [login, tenant] = partsOf(account);
    return {
      account: logHash(hashKey, login),
      ...(tenant !== null && { tenant: logHash(hashKey, tenant) }),
      key: logHash(hashKey, key),
    };
  };
  return {
    /** The members that identify an order in each line about it. */
    ofKey,
    ofOrder({ requestId, [ACCOUNT]: account }: Viewer, ticket: Ticket, end: OrderResult | Error) {
      const { account: accountHash, ...ids } = ofKey({ account, key: ticket.idempotencyKey });
      const asked = askedOf(ticket);
      // Instead of a symbol, a client may have sent an e-mail address or a token.
      const shown = { ...asked, symbol: redact(asked.symbol) };
      // After an error the account may be unproved, so the line does not name it.
      if (end instanceof Error) return { requestId, ...ids, ...shown, ...failureOf(end) };
      const { outcome, replayed } = end;
      return {
        requestId,
        account: accountHash,
        ...ids,
        // A symbol that the gateway accepted is an instrument's, even if it is a number such as 005930.
        ...(outcome.kind === 'accepted' ? asked : shown),
        ...outcomeOf(outcome),
        replayed,
      };
    },
  };
}

export function askedOf({ operation, order }: Ticket): Omit<AskedOrder, 'requestId'> {
  const isLimit = operation === 'placeLimitOrder';
  const { side, price, stopLoss, takeProfit } = order;
  return {
    kind: isLimit || price !== null ? 'PENDING' : 'MARKET',
    symbol: order.symbol.slice(0, MAX_SYMBOL_LENGTH),
    side,
    size: isLimit ? { by: 'amount', value: order.amount } : order.size,
    price,
    stopLoss,
    takeProfit,
  };
}

/**
 * The outcome is `unsent` if the order certainly was not sent. It is `failed` after a refusal by the gateway, or a bug.
 * `earlierUnknown` means that an earlier request with the key may have been sent.
 */
function failureOf(error: Error) {
  const outcome = isBeforeSending(error) ? 'unsent' : 'failed';
  const why = error instanceof GatewayError ? { reason: error.kind, status: error.status } : {};
  return {
    outcome,
    error: error.name,
    ...why,
    ...(leavesDoubt(error) && { earlierUnknown: true }),
  };
}

export function outcomeOf(outcome: Submission) {
  const { kind } = outcome;
  const message = outcome.message && redact(outcome.message);
  if (kind === 'accepted') return { outcome: kind, orderId: outcome.orderId };
  if (kind === 'unknown') {
    return { outcome: kind, message, sentAt: new Date(outcome.sentAtMs).toISOString() };
  }
  const { error, sent } = outcome;
  // The outcome of an order that counts as unsent is the reason: `expired`, `voided` or `settled`.
  return sent === false
    ? { outcome: error.toLowerCase() }
    : { outcome: kind, error: error && redact(error), message };
}
