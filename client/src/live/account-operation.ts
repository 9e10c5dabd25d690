import {
  ORDER_FIELDS,
  type PendingOrder,
  POSITION_FIELDS,
  type Position,
} from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import { chosenFields, type LiveFields, rowFields, tickFields } from './chosen-fields.ts';
import type { AccountFigures, ListChanges, LiveEvent, LiveVariables } from './live-source.ts';

/** One event of the subscription. */
export interface AccountChanges extends LiveEvent {
  readonly positions: ListChanges<Position>;
  /** Null while the gateway has not given any, left out where none are chosen; `fetchedAt` is when it gave this list, in ISO 8601. */
  readonly orders?: (ListChanges<PendingOrder> & { readonly fetchedAt: string }) | null;
  /** Null while the gateway has not given any, left out where none are chosen. */
  readonly session?: AccountFigures | null | undefined;
}

export interface AccountChangesData {
  readonly accountChanges: AccountChanges;
}

const SESSION_FIELDS =
  'id login currency balance equity credit assets invested profits storage leverage access fetchedAt';

/** The text that `account` sends where these fields are chosen, for a manifest of trusted documents. */
export function accountDocument({
  positionFields,
  orderFields,
  sessionFields,
}: LiveFields = {}): TypedText<AccountChangesData, LiveVariables> {
  const orders = rowFields(ORDER_FIELDS, orderFields);
  const session = chosenFields(SESSION_FIELDS, sessionFields);
  const figures = session.replace('access', 'access { currencyDigits }');
  return `subscription AccountChanges($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  accountChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    positions {
      upserted {
        ${rowFields(POSITION_FIELDS, positionFields)}
      }
      ticks { ${tickFields(positionFields)} }
      closed
    }
    ${orderFields?.length === 0 ? '' : `orders { upserted { ${orders} } closed fetchedAt }`}
    ${figures && `session { ${figures} }`}
    totals { count invested profit } status asOf
  }
}`;
}
