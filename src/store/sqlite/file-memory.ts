import type { RecordBounds } from '../order-records.ts';
import type { MachineMoment } from './machine-clock.ts';

/** The moment since which no row has been lost, and what else its processes remember behind the identity of the file. */
export interface FileMemory extends MachineMoment, Pick<RecordBounds, 'accounts'> {
  /** The furthest that the clock of a process that took orders was from the gateway's. */
  readonly differMs?: number;
  /** How far the rows were verified, and in which boot of the machine. */
  readonly verified?: { readonly upTo: number; readonly boot: string };
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
