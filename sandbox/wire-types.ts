import type { toOrder, toPosition } from '../src/gateway/wire/holding.ts';
import type { toAccess, toSession } from '../src/gateway/wire/session.ts';

/** The same properties, none of them null: as the gateway sends them where it lacks none. */
type Filled<T> = { -readonly [Name in keyof T]: NonNullable<T[Name]> };

type RenamedInHolding = 'side' | 'name' | 'stopLoss' | 'takeProfit' | 'createdAt' | 'updatedAt';

interface WireNames {
  isBuy: boolean;
  friendlyName: string;
  sl: number;
  tp: number;
  timeCreate: number;
  timeUpdate: number;
}

/** An open position as the gateway sends it. */
export type WirePosition = Filled<Omit<ReturnType<typeof toPosition>, RenamedInHolding>> &
  WireNames;

/** A pending order as the session snapshot holds it. */
export type WireOrder = Filled<Omit<ReturnType<typeof toOrder>, RenamedInHolding | 'kind'>> &
  WireNames & { isLimit: boolean };

type Session = NonNullable<ReturnType<typeof toSession>>;
type Renamed = 'invested' | 'profits' | 'kycStatus';

/** The account snapshot as the gateway sends it. */
export interface WireSession
  extends Filled<Omit<Session, Renamed | 'login' | 'access' | 'positions' | 'orders'>> {
  /** A login of either type is compared with the token's. */
  login: number;
  Invested: number;
  Profits: number;
  kyc_status: string;
  access: Filled<NonNullable<ReturnType<typeof toAccess>>>;
  positions: readonly WirePosition[];
  orders: readonly WireOrder[];
}
