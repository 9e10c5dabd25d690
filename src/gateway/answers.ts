import type { Instrument, Position, Session } from './model.ts';
import type { GatewayRefusal } from './wire/bodies.ts';

/** When a read was sent: of two answers the one with the higher sequence is newer. */
export interface Sent {
  readonly sequence: number;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

export type AnswerHeaders = Readonly<Record<string, string | undefined>>;

export type CatalogAnswer = ModifiedCatalog | UnmodifiedCatalog;

export interface ModifiedCatalog extends Sent {
  readonly modified: true;
  readonly instruments: readonly Instrument[];
  /** Rows that broke the interface's table and were left out. */
  readonly skipped: number;
  /** Values of enums that are not known here. */
  readonly unknownValues: number;
  readonly total: number;
  readonly etag: string | null;
  readonly headers: AnswerHeaders;
}

export interface UnmodifiedCatalog extends Sent {
  readonly modified: false;
  readonly headers: AnswerHeaders;
}

export interface SessionAnswer extends Sent {
  readonly session: Session;
}

export interface PositionsAnswer extends Sent {
  readonly positions: readonly Position[];
  /** The body as it came: an equal one next time need not be parsed. */
  readonly bytes: Buffer;
}

/** The outcome of a small write that the gateway answered. */
export type Acknowledgement =
  | { readonly outcome: 'acknowledged' }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };
