import type { Account } from '../../lib/account.ts';
import { type OrderKey, type OrderRecord, RENAMED, toOrderRecord } from '../order-records.ts';
import { FORGETFUL, UNDECIDED } from './store-look.ts';

/** A record in a script's answer. The fields of its hash are strings. */
export interface Held {
  readonly kind: 'held';
  readonly id: string;
  readonly digest: string;
  readonly at: string;
  readonly asked: string;
  readonly outcome: string;
  readonly sent?: string;
  readonly answered?: string;
  readonly leftMs: number;
}

/** Why a script made no record, or cannot state whether there is one. */
export type Refusal =
  | { readonly kind: keyof typeof REFUSALS | 'forgotten' | 'full' | 'fullAccount' | 'fullOfUnsent' }
  | { readonly kind: 'copies'; readonly have: number; readonly wanted: number }
  | { readonly kind: 'incomplete'; readonly untilMs?: number };

export const REFUSALS = {
  renamed: RENAMED,
  evicted: 'Redis has dropped the record of this key before its time (see maxmemory-policy)',
  undecided: UNDECIDED,
  forgetful: FORGETFUL,
  released: 'the reservation came after its release',
  young: 'the order records in Redis are new: processes that remember others are waited for',
} as const;

export function recordOf(held: Held): OrderRecord {
  const { id, digest: inputDigest, at, asked, outcome, sent, answered, leftMs } = held;
  const of = { id, inputDigest, reservedAtMs: Number(at), asked: JSON.parse(asked) };
  const times = { sentAtMs: momentOf(sent), answeredAtMs: momentOf(answered) };
  return toOrderRecord(of, JSON.parse(outcome), leftMs, times);
}

/** Parses the name of a record, which is the encoded account, a colon and the key. */
export function keyOfRecord(name: string): OrderKey {
  const at = name.indexOf(':');
  return { account: decodeURIComponent(name.slice(0, at)) as Account, key: name.slice(at + 1) };
}

function momentOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
