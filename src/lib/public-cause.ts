/** The side to which metrics attribute a failure: the caller, a limit of this service, or a fault of the service. */
export type Attribution = 'caller' | 'refused' | 'fault';

/** The part of a failure that clients see, and its attribution for metrics. */
export interface PublicCause {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly outcome?: Attribution;
}
