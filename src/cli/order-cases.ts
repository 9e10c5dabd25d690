import type { Config } from '../config.ts';
import { logHash } from '../lib/log-hash.ts';
import type { OperatorRecords, StoredOrder } from '../store/operator-records.ts';
import {
  isUnknown,
  type OrderKey,
  type OrderRecord,
  type RecordedOutcome,
  type Settled,
} from '../store/order-records.ts';
import { type SettledOutcome, settleByHand } from '../store/settlement.ts';
import { EXIT_FAILED, EXIT_OK, type Terminal, UsageError } from './dispatch.ts';

type SettleOptions = {
  readonly [Name in 'verdict' | 'number' | 'by' | 'why']?: string | undefined;
};

const MAX_TEXT_LENGTH = 200;
const NOTHING = 'This account has no such order on record.';

export async function listOrders(
  orders: AsyncIterable<StoredOrder>,
  onlyUnknown: boolean,
  { logAccountKey: hashKey }: Config,
  { out }: Terminal,
): Promise<number> {
  for await (const { account, key, record } of orders) {
    if (onlyUnknown && !isUnknown(record)) continue;
    const { symbol, side, size } = record.asked ?? {};
    // The log contains this hash in place of the key.
    const keyHash = hashKey === null ? null : logHash(hashKey, key);
    const facts = { account, key, keyHash, symbol, side, size };
    out(`${dateOf(record.reservedAtMs)}  ${shown(facts)}  ${stateOf(record)}`);
  }
  return EXIT_OK;
}

export async function showOrder(
  records: OperatorRecords,
  { account, key }: OrderKey,
  { out, err }: Terminal,
): Promise<number> {
  const record = await records.find(account, key);
  if (record === null) {
    err(NOTHING);
    return EXIT_FAILED;
  }
  const { asked, reservedAtMs } = record;
  out(`${shown({ account, key })}  ${stateOf(record)}`);
  out(`  asked ${dateOf(reservedAtMs)}  ${shown(asked ?? {})}`);
  return EXIT_OK;
}

/** Gives an unknown order the outcome that a back office has found. Every client then gets this outcome. */
export async function settleOrder(
  records: OperatorRecords,
  order: OrderKey,
  outcome: SettledOutcome,
  { out, err }: Terminal,
): Promise<number> {
  const answer = await settleByHand(records, order, outcome);
  switch (answer.kind) {
    case 'none':
      err(NOTHING);
      return EXIT_FAILED;
    case 'early': {
      const seconds = Math.ceil(answer.leftMs / 1000);
      err(`It is under way, or the gateway may still answer: settle it in ${seconds} s.`);
      return EXIT_FAILED;
    }
    case 'known':
      err(`It is known already: ${stateOf(answer.record)}`);
      return EXIT_FAILED;
    case 'settled':
      out(`Settled: every client gets this outcome: ${stateOf(answer.record)}`);
      return EXIT_OK;
  }
}

/** Throws a UsageError if an option is missing or does not fit. */
export function settledOutcome({ verdict, number, by, why }: SettleOptions): SettledOutcome {
  const settled: Settled = { by: text('by', by), why: text('why', why), atMs: Date.now() };
  if (verdict === 'accepted') {
    return { kind: 'accepted', orderId: text('number', number), message: null, settled };
  }
  if (verdict !== 'not-sent' || number !== undefined) {
    throw new UsageError('Choose accepted with its --number, or not-sent without one.');
  }
  return { kind: 'rejected', error: 'SETTLED', message: null, sent: false, settled };
}

function text(name: string, given = ''): string {
  if (given.trim() !== '' && given.length <= MAX_TEXT_LENGTH) return given;
  throw new UsageError(`Give --${name}, up to ${MAX_TEXT_LENGTH} characters.`);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString();
}

function stateOf(record: OrderRecord): string {
  if (record.outcome !== null) return shown(factsOf(record.outcome));
  return isUnknown(record) ? 'unknown, as it was cut off' : 'under way';
}

function factsOf({ kind, settled, ...facts }: RecordedOutcome & { readonly settled?: Settled }) {
  return { outcome: kind, ...facts, ...(settled && { by: settled.by, why: settled.why }) };
}

/** Keys and texts of the gateway may contain control characters of the terminal, so these are escaped. */
function shown(facts: object): string {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return Object.entries(facts)
    .filter(([, value]) => value != null)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')
    .replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escaped);
}
