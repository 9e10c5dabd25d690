/** Why something did not work, in the same form whether the server, the network or the client itself says so. */
export class TradingGraphError extends Error {
  override readonly name = 'TradingGraphError';
  /**
   * A code of the server, or one of the client's own: `NETWORK`, `STORAGE`, `SIGNED_OUT`, `DISPOSED`, `PROTOCOL`,
   * `ABORTED`, `KEY_EXPIRED`; of an order that the server has not sent, `EXPIRED`, `VOIDED` or `SETTLED`; of a notification that the
   * gateway refuses, `REJECTED`.
   */
  readonly code: string;
  /** True where the same request may succeed later. */
  readonly retryable: boolean;
  /** The least time to wait, in seconds, where the server says it. */
  readonly retryAfter: number | null;
  /** Names the request in the server's log. */
  readonly requestId: string | null;
  /** The path of the field in the answer; null where the whole request failed. */
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
}

/** The parts of an error, as the server or the client gives them. */
export interface ErrorDetails {
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfter?: number | null;
  readonly requestId?: string | null;
  readonly path?: readonly (string | number)[] | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}
