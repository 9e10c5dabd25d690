import type { RecordBounds } from '../record-shares.ts';
import type { MachineMoment } from './machine-clock.ts';

/** When a gap was found. */
export interface GapMoment extends MachineMoment {
  /** When it ended, by the later of our clock and the gateway's; absent until the gateway's was measured. */
  readonly untilMs?: number;
}

/** The moment since which no row has been lost, and what else its processes remember behind the identity of the file. */
export interface FileMemory extends MachineMoment, Pick<RecordBounds, 'accounts'> {
  /** The furthest that the clock of a process that took orders was from the gateway's. */
  readonly differMs?: number;
  /** How far the rows were verified, and in which boot of the machine. */
  readonly verified?: { readonly upTo: number; readonly boot: string };
  /** The memory from before accounts were named otherwise. */
  readonly former?: FormerMemory;
}

interface FormerMemory extends MachineMoment, Pick<RecordBounds, 'accounts'> {
  readonly incompleteFrom: string | null;
  /** When the gap of the other name began. */
  readonly gapAt: string;
  /** The last record then: an earlier version that adds one leaves this memory as it is. */
  readonly last: string | null;
}

interface Remembering {
  readonly file: string;
}

/** Null where a process of an earlier version has begun since. */
export function rememberedSince({ file }: Remembering): FileMemory | null {
  const at = file.indexOf('{');
  return at < 0 ? null : JSON.parse(file.slice(at));
}

export function withMemory(file: string, since: FileMemory): string {
  const [inode, born = '0'] = file.split(' ');
  return `${inode} ${born} ${JSON.stringify(since)}`;
}

/** Whether another process that took orders, or does, names accounts otherwise. */
export function isOtherName(state: Remembering, accounts: string | undefined): boolean {
  return accounts !== undefined && (rememberedSince(state)?.accounts ?? accounts) !== accounts;
}

/**
 * Returns the memory and the gap of a process that names accounts otherwise: it does not find the orders of the other name. Where
 * that one recorded none, the name before it finds all that it knew.
 */
export function renamed(
  memory: FileMemory,
  incompleteFrom: string | null,
  {
    accounts,
    now,
    last,
  }: Pick<FormerMemory, 'last'> & { readonly accounts: string; readonly now: MachineMoment },
): [FileMemory, string | null] {
  const { former, ...others } = memory;
  const isSame = momentOf(incompleteFrom)?.at === former?.gapAt && last === former?.last;
  if (former?.accounts === accounts && isSame) {
    const { incompleteFrom: before, gapAt: _, last: __, ...own } = former;
    return [{ ...others, ...own }, before];
  }
  const { at, boot, uptimeMs, accounts: name } = memory;
  const own = { at, boot, uptimeMs, accounts: name, incompleteFrom, gapAt: now.at, last };
  return [{ ...others, ...now, accounts, former: own }, JSON.stringify(now)];
}

export function momentOf(text: string | null): GapMoment | null {
  return JSON.parse(text ?? 'null');
}
