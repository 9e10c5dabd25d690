import type { ServerErrorCode } from './generated/error-codes.ts';

/**
 * The codes of the server and of the client. An order that the server did not send has `EXPIRED`, `VOIDED` or `SETTLED`. An
 * order that was not placed because of an earlier order of its ticket has `IN_DOUBT` or `UNDER_WAY`. A notification that the
 * gateway refuses has `REJECTED`. A newer server may have other codes.
 */
export type ErrorCode =
  | ServerErrorCode
  | 'NETWORK'
  | 'STORAGE'
  | 'SIGNED_OUT'
  | 'DISPOSED'
  | 'PROTOCOL'
  | 'ABORTED'
  | 'EXPIRED'
  | 'VOIDED'
  | 'SETTLED'
  | 'IN_DOUBT'
  | 'UNDER_WAY'
  | 'REJECTED'
  | (string & {});

/**
 * Why an operation failed, in one form for errors of the server, the network and the client. An app may have two copies of
 * the class, one per module format: `instanceof` accepts the errors of both.
 */
export class TradingGraphError extends Error {
  override readonly name = 'TradingGraphError';
  readonly code: ErrorCode;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** The least time to wait, in seconds, if the server names one. */
  readonly retryAfter: number | null;
  /** Names the request in the server's log. */
  readonly requestId: string | null;
  /** The path of the field in the answer; null if the whole request failed. */
  readonly path: readonly (string | number)[] | null;
  /** The server's other details, such as `argument` or `limit`. */
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = details.code;
    this.retryable = details.retryable;
    this.retryAfter = details.retryAfter ?? null;
    this.requestId = details.requestId ?? null;
    this.path = details.path ?? null;
    this.extensions = details.extensions ?? {};
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Babel's classes check by `instanceof` whether they are called with `new`, before the error has its name.
    // biome-ignore lint/complexity/noThisInStatic: a subclass of the app must accept only its own instances.
    const [own, isWhole]: [object, boolean] = [this.prototype, this === TradingGraphError];
    if (Object.prototype.isPrototypeOf.call(own, Object(value))) return true;
    return isWhole && Object(value).name === 'TradingGraphError';
  }
}

/** The parts of an error, as the server or the client gives them. */
export interface ErrorDetails {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfter?: number | null;
  readonly requestId?: string | null;
  readonly path?: readonly (string | number)[] | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}
