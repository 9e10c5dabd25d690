import type { Instrument } from './operations/get-all-tickers.ts';
import type { OpenPositions } from './operations/get-open-positions.ts';
import type { Session } from './operations/get-session.ts';
import type { ReadTimes } from './read-times.ts';

type AnswerHeaders = Readonly<Record<string, string | undefined>>;

export type CatalogAnswer = ModifiedCatalog | UnmodifiedCatalog;

export interface ModifiedCatalog extends ReadTimes {
  readonly modified: true;
  readonly instruments: readonly Instrument[];
  /** Rows that broke the interface's table and were left out. */
  readonly skipped: number;
  readonly total: number;
  readonly etag: string | null;
  readonly headers: AnswerHeaders;
}

interface UnmodifiedCatalog extends ReadTimes {
  readonly modified: false;
  readonly headers: AnswerHeaders;
}

export interface SessionAnswer extends ReadTimes {
  readonly session: Session;
}

export type PositionsAnswer = ReadTimes & OpenPositions;
