import { jsonIn } from './replies.ts';

/** How the store is, as the script LOOK answers. */
export interface StoreLook {
  readonly held: number;
  /** Whether a record may give way to another one. */
  readonly hasRejected: boolean;
  readonly isHeld: boolean;
  readonly isIncomplete: boolean;
  readonly lossUntilMs: number | null;
  /** The number of Redis's replicas; below 0 where it refuses INFO. */
  readonly connected: number;
  /** `1` where a restart forgets nothing, `0` where it does. */
  readonly durable: string;
  /** The policy by which Redis drops records. */
  readonly eviction: string | null;
  /** Why Redis takes no writes. */
  readonly refusal: string | null;
  /** Whether Redis was promoted and may still lack records. */
  readonly isUndecided: boolean;
  readonly isRenamed: boolean;
  readonly isNew: boolean;
}

export function readLook([, look]: readonly unknown[]): StoreLook {
  return jsonIn(look) as StoreLook;
}

export const UNDECIDED =
  'Redis was promoted, and too few of its replicas follow it to say that it has all orders';

/** Why a restart of Redis would forget orders; null where it would not. */
export function forgetfulness(durable: string): string | null {
  if (durable === '1') return null;
  const cause =
    durable === '0'
      ? 'Redis has appendonly no'
      : 'Redis does not tell whether it has appendonly yes (it refuses INFO)';
  return `${cause}, so that a restart would forget orders, which would then be sent again`;
}
