import {
  ORDER_FIELDS,
  type PendingOrder,
  POSITION_FIELDS,
  type Position,
} from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import { chosenFields, type LiveFields, rowFields, tickFields } from './chosen-fields.ts';
import type { AccountFigures, ListChanges, LiveEvent, LiveVariables } from './live-source.ts';
import type { PolledPositions } from './positions-operation.ts';

/** One event of the subscription. */
export interface AccountChanges extends LiveEvent {
  readonly positions: ListChanges<Position>;
  /**
   * Null until the gateway has given orders; undefined if no fields of orders are selected. `fetchedAt` is when it gave
   * this list, in ISO 8601.
   */
  readonly orders?: (ListChanges<PendingOrder> & { readonly fetchedAt: string }) | null;
  /** Null until the gateway has given a session; undefined if no fields of the session are selected. */
  readonly session?: AccountFigures | null | undefined;
}

export interface AccountChangesData {
  readonly accountChanges: AccountChanges;
}

const SESSION_FIELDS =
  'id login currency balance equity credit assets invested profits storage leverage access fetchedAt';

/** The account's data, as the query answers it. */
export interface PolledAccount extends PolledPositions {
  readonly orders?: readonly PendingOrder[] | null;
  readonly session?: AccountFigures | null;
}

/**
 * The two documents that the live account sends for these fields, for a manifest of trusted documents. The query is sent if
 * no WebSocket opens.
 */
export function accountDocuments({ positionFields, orderFields, sessionFields }: LiveFields = {}): {
  readonly subscription: TypedText<AccountChangesData, LiveVariables>;
  readonly query: TypedText<PolledAccount, never>;
} {
  const positions = rowFields(POSITION_FIELDS, positionFields);
  const orders = orderFields?.length === 0 ? '' : rowFields(ORDER_FIELDS, orderFields);
  const session = chosenFields(SESSION_FIELDS, sessionFields);
  const figures = session.replace('access', 'access { currencyDigits }');
  return {
    subscription: `subscription AccountChanges($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  accountChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    positions {
      upserted {
        ${positions}
      }
      ticks { ${tickFields(positionFields)} }
      closed
    }
    ${orders && `orders { upserted { ${orders} } closed fetchedAt }`}
    ${figures && `session { ${figures} }`}
    totals { count invested profit } status asOf
  }
}`,
    query: `query PolledAccount {
  positions { ${positions} }
  positionTotals { count invested profit }
  ${orders && `orders { ${orders} }`}
  ${figures && `session { ${figures} }`}
}`,
  };
}
