/** The side to which operators' figures attribute a failure: the caller, a limit here, or the service. */
export type Attribution = 'caller' | 'refused' | 'fault';

/** The part of a failure that clients see, and the facts that metrics and the log need in addition to its code. */
export interface PublicCause {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly outcome?: Attribution;
  /** The reason of the failure, where the code does not say it. */
  readonly reason?: string | null;
  /** The error that is logged as a fault, though its code is not INTERNAL. */
  readonly fault?: unknown;
}
