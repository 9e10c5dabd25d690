import type { TypedText } from '../operation.ts';
import type { ListChanges, LiveEvent, LiveVariables } from './live-source.ts';
import { POSITION_FIELDS } from './position-fields.ts';
import type { Position, Side } from './positions-operation.ts';

/** A pending order: every plain field of the server's. Fields that the gateway left out are null. */
export interface PendingOrder {
  readonly id: string;
  readonly symbol: string;
  readonly name: string | null;
  readonly logo: string | null;
  readonly side: Side | null;
  readonly kind: 'LIMIT' | 'STOP' | null;
  readonly units: number | null;
  readonly invested: number | null;
  readonly leverage: number | null;
  /** The price at which it is to be carried out. */
  readonly priceOpen: number | null;
  readonly priceCurrent: number | null;
  readonly digits: number | null;
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  readonly rateMargin: number | null;
  readonly useMargin: boolean | null;
  readonly state: number | null;
  readonly delayed: boolean | null;
  readonly sharia: boolean | null;
  readonly comment: string | null;
  /** In ISO 8601, as the server writes it. */
  readonly createdAt: string | null;
  /** In ISO 8601, as the server writes it. */
  readonly updatedAt: string | null;
}

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
  `subscription AccountChanges($after: String, $intervalMs: Int) {
  accountChanges(after: $after, intervalMs: $intervalMs) {
    cursor snapshot
    positions {
      upserted {
        ${POSITION_FIELDS}
      }
      closed
    }
    orders {
      upserted {
        id symbol name logo side kind units invested leverage priceOpen priceCurrent digits
        stopLoss takeProfit rateMargin useMargin state delayed sharia comment createdAt updatedAt
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
