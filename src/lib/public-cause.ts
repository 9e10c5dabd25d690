/** The side to which operators' figures attribute a failure: the caller, a limit here, or the service. */
export type Attribution = 'caller' | 'refused' | 'fault';

/** The part of a failure that clients see, and the side to which operators' figures attribute it. */
export interface PublicCause {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly outcome?: Attribution;
}
