import type { ForwardedHeaders } from '../forwarded-headers.ts';
import type { Token } from '../token.ts';
import { addressClient, type Client } from './client.ts';

/** The state of a request's token: looked up once per request, and updated when more becomes known about the token. */
export interface TokenStatus {
  /** The account that limits are charged to; null until an account is proved, and once the token has expired. */
  readonly provedClient: Client | null;
  /** Whether a backend has accepted the token recently. */
  readonly isAccepted: boolean;
}

export interface RequestCaller {
  /** Its hash includes the forwarded headers, so that equal tokens of two tenants share nothing. */
  readonly token: Token | null;
  /** Undefined if there is no token, or no backend that could verify it. */
  readonly tokenStatus?: TokenStatus | undefined;
  /** Aborts a read once no client waits for it; a write runs to its own deadline. */
  readonly signal?: AbortSignal | undefined;
  /** The client's own address and agent. */
  readonly client?: { readonly address: string; readonly userAgent: string | null } | undefined;
  readonly requestId?: string | undefined;
  /** Undefined if the request has none of these headers. */
  readonly forwarded?: ForwardedHeaders | undefined;
}

/**
 * Returns the client that a caller's requests are charged to: the account in `provedClient`, otherwise the address.
 * A token that merely names an account, or has expired, must not use up the limits of the account's owner.
 */
export function clientOf(caller: Pick<RequestCaller, 'tokenStatus' | 'client'>): Client {
  return caller.tokenStatus?.provedClient ?? addressClient(caller.client?.address);
}
