import type { Position, Session } from './model.ts';
import type { GatewayRefusal, LoginGrant } from './wire/bodies.ts';
import type { toInstruments } from './wire/instrument.ts';

/** When a read was sent: of two answers the one of the later logical time is newer. */
export interface ReadTimes {
  readonly logicalTime: number;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

type AnswerHeaders = Readonly<Record<string, string | undefined>>;

export type CatalogAnswer = ModifiedCatalog | UnmodifiedCatalog;

type CheckedInstruments = Awaited<ReturnType<typeof toInstruments>>;

export interface ModifiedCatalog extends ReadTimes, Readonly<Omit<CheckedInstruments, 'reading'>> {
  readonly modified: true;
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

export interface PositionsAnswer extends ReadTimes {
  readonly positions: readonly Position[];
  /** The hash of the body as it came: an equal one next time need not be parsed. */
  readonly bodyHash: string;
  readonly bodyBytes: number;
}

/** The outcome of a sign-in that the gateway answered. */
export type SignIn =
  | { readonly outcome: 'granted'; readonly grant: LoginGrant }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };

/** The outcome of a small write that the gateway answered. */
export type Acknowledgement =
  | { readonly outcome: 'acknowledged' }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };
