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

/** The record there is, or is from now on of a key that was closed, or that an operator has settled; null, or why the task is refused. */
export type TaskAnswer =
  | OrderRecord
  | { readonly cutOff: readonly CutOffOrder[] }
  | null
  | TaskRefusal;

/** The reason, as a text; `unused` where the key has no record; or when its account or token has room for one more. */
export type TaskRefusal =
  | string
  | { readonly unused: string }
  | { readonly isFull: true; readonly freeInMs: number | null }
  | { readonly gapUntilMs: number | null }
  | { readonly isForgotten: true }
  | { readonly whose: Share; readonly freeInMs: number };
