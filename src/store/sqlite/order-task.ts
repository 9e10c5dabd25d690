import type { Account } from '../../../lib/account.ts';
import type { KeyTime } from '../order-gap.ts';
import type {
  CutOffOrder,
  OrderRecord,
  RecordedOutcome,
  Reservation,
  VoidRequest,
} from '../order-records.ts';
import type { Share } from '../record-shares.ts';
import type { MachineMoment } from './machine-clock.ts';

/** The times of a key, and the machine's uptime at which the clocks were read. */
export type AskedTime = KeyTime & Pick<MachineMoment, 'uptimeMs'>;

/** Plain data, since it is cloned to the worker thread and back. */
export type Task =
  | {
      readonly do: 'reserve';
      readonly reservation: Reservation;
      readonly keyTime?: AskedTime | undefined;
    }
  | { readonly do: 'release'; readonly reservation: Reservation }
  | { readonly do: 'settle'; readonly reservation: Reservation; readonly outcome: RecordedOutcome }
  | { readonly do: 'find'; readonly account: Account; readonly key: string }
  /** The record of a key that is closed has this reservation. */
  | { readonly do: 'void'; readonly reservation: Reservation; readonly request: VoidRequest }
  | { readonly do: 'cut off' }
  | { readonly do: 'check' };

/** Null where the key has no record, or has one from now on that was asked for. */
export type TaskAnswer =
  /** The record there is, or is from now on of a key that was closed, or that an operator has settled. */
  | { readonly kind: 'record'; readonly record: OrderRecord }
  | { readonly kind: 'cut off'; readonly orders: readonly CutOffOrder[] }
  | null
  | TaskRefusal;

export type TaskRefusal =
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** The key has no record. */
  | { readonly kind: 'unused'; readonly reason: string }
  | { readonly kind: 'full'; readonly freeInMs: number | null }
  | { readonly kind: 'gap'; readonly untilMs: number | null }
  | { readonly kind: 'forgotten' }
  /** `freeInMs`: when the account, or its token, has room for one more. */
  | { readonly kind: 'share'; readonly whose: Share; readonly freeInMs: number };
