import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../lib/account.ts';
import { systemClock } from '../../lib/clock.ts';
import { logHash } from '../../lib/log-hash.ts';
import type { Config } from '../config.ts';
import { partsOf } from '../domain/auth/viewer.ts';
import type { OperatorRecords } from '../store/operator-records.ts';
import {
  isUnknown,
  type OrderRecord,
  type RecordedOutcome,
  type Settled,
} from '../store/order-records.ts';
import { openOrderTrail, type TrailEntry, trailEntries } from '../store/order-trail.ts';
import type { SettledOutcome, StoredOrder } from '../store/settlement.ts';
import { UsageError } from './arguments.ts';
import { EXIT_FAILED, EXIT_OK, type Terminal } from './dispatch.ts';

export const CASES = ['show', 'list', 'settle'] as const;

export interface CaseAsked {
  readonly account: Account | null;
  readonly key?: string | undefined;
  readonly verdict?: string | undefined;
  readonly number?: string | undefined;
  readonly by?: string | undefined;
  readonly why?: string | undefined;
  readonly json?: boolean | undefined;
  readonly unknown?: boolean | undefined;
}

const MAX_TEXT_LENGTH = 200;
const NOTHING = 'This account (and tenant) has no such order, neither on record nor in the trail.';

/** Looks at single orders, and settles what a back office has found out. */
export async function runCase(
  word: (typeof CASES)[number],
  asked: CaseAsked,
  config: Config,
  open: () => Promise<OperatorRecords>,
  terminal: Terminal,
): Promise<number> {
  // Before anything is opened.
  const outcome = word === 'settle' ? verdictOf(asked) : null;
  const { account, key = '' } = asked;
  const onWarn = terminal.err;
  const records = await open();
  try {
    if (account === null || word === 'list') return await list(records, asked, config, terminal);
    if (outcome === null) return await show(records, account, asked, terminal);
    const other = await otherKey(records, account, key, outcome, config);
    if (other !== null) {
      onWarn(`The gateway gave this number to ${shown({ key: other })}.`);
      return EXIT_FAILED;
    }
    const answer = await records.settle({ account, key, outcome });
    if (answer.kind === 'none') onWarn(NOTHING);
    if (answer.kind === 'early') {
      const seconds = Math.ceil(answer.leftMs / 1000);
      onWarn(`It is under way, or the gateway may still answer: settle it in ${seconds} s.`);
    }
    if (answer.kind === 'known') onWarn(`It is known already: ${stateOf(answer.record)}`);
    if (answer.kind !== 'settled') return EXIT_FAILED;
    const { record } = answer;
    if (config.orderTrailDays > 0) await noteInTrail(records, { account, key, record }, onWarn);
    const isFirst = isDeepStrictEqual(record.outcome, outcome);
    const said = isFirst
      ? 'Settled. From now on every client gets'
      : 'Settled before: every client gets';
    terminal.out(`${said} this outcome: ${stateOf(record)}`);
    return EXIT_OK;
  } finally {
    records.close();
  }
}

/** The key of another order that has the number; where the gateway nets, orders share it. */
async function otherKey(
  records: OperatorRecords,
  account: Account,
  key: string,
  outcome: SettledOutcome,
  { gatewayOrderNumbers }: Config,
): Promise<string | null> {
  if (outcome.kind !== 'accepted' || gatewayOrderNumbers === 'position') return null;
  for await (const { key: other, record } of records.list(account, false)) {
    const { outcome: known } = record;
    if (other !== key && known?.kind === 'accepted' && known.orderId === outcome.orderId) {
      return other;
    }
  }
  return null;
}

/** The first word counts: its entry may be missing where the answer to that command was lost. */
async function noteInTrail(
  { trail: store }: OperatorRecords,
  { account, key, record: { outcome } }: StoredOrder,
  onWarn: (message: string) => void,
): Promise<void> {
  for await (const { event } of trailEntries(store, account, key)) if (event === 'settled') return;
  const trail = openOrderTrail(store, { clock: systemClock, onWarn });
  if (outcome !== null) trail.add({ account, key }, 'settled', factsOf(outcome));
  await trail.close();
}

/** Throws a UsageError. */
function verdictOf({ verdict, number, by, why }: CaseAsked): SettledOutcome {
  const settled: Settled = { by: text('by', by), why: text('why', why), atMs: Date.now() };
  if (verdict === 'accepted') {
    return { kind: 'accepted', orderId: text('number', number), message: null, settled };
  }
  if (verdict !== 'not-sent' || number !== undefined) {
    throw new UsageError('Say accepted with its --number, or not-sent without one.');
  }
  return { kind: 'rejected', error: 'SETTLED', message: null, sent: false, settled };
}

function text(name: string, given = ''): string {
  if (given.trim() !== '' && given.length <= MAX_TEXT_LENGTH) return given;
  throw new UsageError(`Say --${name}, up to ${MAX_TEXT_LENGTH} characters.`);
}

async function show(
  records: OperatorRecords,
  account: Account,
  { key = '', number, json }: CaseAsked,
  { out, err }: Terminal,
): Promise<number> {
  let code = EXIT_FAILED;
  for (const each of number === undefined ? [key] : await keysOf(records, account, number)) {
    const record = await records.find(account, each);
    const trail: TrailEntry[] = [];
    for await (const entry of trailEntries(records.trail, account, each)) trail.push(entry);
    if (record === null && trail.length === 0) continue;
    code = EXIT_OK;
    if (json) {
      out(JSON.stringify({ ...nameOf(account, each), record, trail }));
      continue;
    }
    out(`${shown(nameOf(account, each))}: ${record ? stateOf(record) : 'no more on record'}`);
    for (const { at, event, replica, account: _, key: __, entry: ___, ...facts } of trail) {
      out(`  ${at}  ${replica}  ${event}  ${shown(facts)}`);
    }
  }
  if (code === EXIT_FAILED) err(NOTHING);
  return code;
}

/** The keys of the orders that the gateway has told a number for, also in the words of an answer that left it open. */
async function keysOf(records: OperatorRecords, account: Account, number: string) {
  const keys = new Set<string>();
  const isOf = (told: object | null) => {
    const { orderId, message }: { orderId?: unknown; message?: unknown } = { ...told };
    return orderId === number || String(message).includes(`the order ${number}.`);
  };
  for await (const entry of trailEntries(records.trail, account)) {
    if (isOf(entry)) keys.add(entry.key);
  }
  for await (const { key, record } of records.list(account, false)) {
    if (isOf(record.outcome)) keys.add(key);
  }
  return keys;
}

async function list(
  records: OperatorRecords,
  { account, unknown = false, json }: CaseAsked,
  { logAccountKey: hashKey }: Config,
  { out }: Terminal,
): Promise<number> {
  for await (const { account: owner, key, record } of records.list(account, unknown)) {
    // The line in the log is found by the hash that it has in place of the key.
    const name = { ...nameOf(owner, key), ...(hashKey && { keyHash: logHash(hashKey, key) }) };
    const at = new Date(record.reservedAtMs).toISOString();
    out(
      json ? JSON.stringify({ ...name, ...record }) : `${at}  ${shown(name)}: ${stateOf(record)}`,
    );
  }
  return EXIT_OK;
}

function nameOf(account: Account, key: string) {
  const [login, tenant] = partsOf(account);
  return { login, ...(tenant !== null && { tenant }), key };
}

function stateOf(record: OrderRecord): string {
  if (record.outcome !== null) return shown(factsOf(record.outcome));
  return isUnknown(record) ? 'unknown, as it was cut off' : 'under way';
}

function factsOf({ kind, settled, ...facts }: RecordedOutcome & { readonly settled?: Settled }) {
  return { outcome: kind, ...facts, ...(settled && { by: settled.by, why: settled.why }) };
}

/** A key, or the gateway's words, may hold what a terminal would obey. */
function shown(facts: object): string {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')
    .replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escaped);
}
