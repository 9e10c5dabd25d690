import {
  ORDER_FIELDS,
  type PendingOrder,
  POSITION_FIELDS,
  type Position,
} from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import type { ListChanges, LiveEvent, LiveVariables } from './live-source.ts';

/** The gateway's figures of the account, as of `fetchedAt`. */
export interface AccountFigures {
  readonly id: string;
  readonly login: string;
  readonly currency: string | null;
  readonly balance: number | null;
  readonly equity: number | null;
  readonly credit: number | null;
  readonly assets: number | null;
  readonly invested: number | null;
  readonly profits: number | null;
  readonly storage: number | null;
  readonly leverage: number | null;
  readonly access: { readonly currencyDigits: number | null } | null;
  /** When the gateway gave these figures, in ISO 8601. */
  readonly fetchedAt: string;
}

/** One event of the subscription. */
export interface AccountChanges extends LiveEvent {
  readonly positions: ListChanges<Position>;
  /** Null while the gateway has not given any; `fetchedAt` is when it gave this list, in ISO 8601. */
  readonly orders: (ListChanges<PendingOrder> & { readonly fetchedAt: string }) | null;
  /** Null while the gateway has not given any. */
  readonly session: AccountFigures | null;
}

export interface AccountChangesData {
  readonly accountChanges: AccountChanges;
}

export const ACCOUNT_CHANGES: TypedText<AccountChangesData, LiveVariables> =
  `subscription AccountChanges($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  accountChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    positions {
      upserted {
        ${POSITION_FIELDS}
      }
      closed
    }
    orders {
      upserted {
        ${ORDER_FIELDS}
      }
      closed fetchedAt
    }
    session {
      id login currency balance equity credit assets invested profits storage leverage
      access { currencyDigits } fetchedAt
    }
    totals { count invested profit } status asOf
  }
}`;
