import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Account, TOKEN_TEXT, textOf } from '../account.ts';
import type { ForwardedHeaders } from '../forwarded-headers.ts';

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
  /** Aborted when the client has left. It ends subscriptions; calls of a backend run to their own deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Who sent the request, in contrast to the client that it is charged to. */
  readonly sender?: { readonly address: string; readonly userAgent: string | null } | undefined;
  readonly requestId?: string | undefined;
  /** Undefined if the request has none of these headers. */
  readonly forwarded?: ForwardedHeaders | undefined;
}

/**
 * Returns the client that a caller's requests are charged to: the account in `provedClient`, otherwise the address.
 * A token that merely names an account, or has expired, must not use up the limits of the account's owner.
 */
export function clientOf(caller: Pick<RequestCaller, 'tokenStatus' | 'sender'>): Client {
  return caller.tokenStatus?.provedClient ?? addressClient(caller.sender?.address);
}

/** The kinds of clients that limits are charged to; the owner of a limit may have kinds of its own. */
export type ClientKind = 'account' | 'address' | (string & {});

/** The client that usage is charged to. */
export interface Client {
  readonly kind: ClientKind;
  readonly key: string;
  /** The key of a proved account. */
  readonly account?: Account;
}

export function accountClient(account: Account): Client {
  return { kind: 'account', key: `account ${textOf(account)}`, account };
}

const MAX_KNOWN = 4_096;
const known = new Map<string, Client>();

/** The client of an IPv4 address, or of the /64 of an IPv6 one. Memoized, because each request asks for it several times. */
export function addressClient(address = ''): Client {
  const before = known.get(address);
  if (before) return before;
  const client = singleClient('address', addressKey(address));
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(address, client);
  return client;
}

export function singleClient(kind: ClientKind, name: string): Client {
  return { kind, key: `${kind} ${name}` };
}

/** The same client with regard to one thing, for which it has a separate limit. */
export function regarding(client: Client, thing: string, kind = client.kind): Client {
  return { ...client, kind, key: `${client.key} ${thing}` };
}

/** Removes the zone of an address. Turns an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) into its IPv4 address. */
export function plainAddress(address: string): string {
  const bare = (address.split('%', 1)[0] ?? '').toLowerCase();
  return bare.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Returns the key by which limits count an address: the /64 of an IPv6 address, because a host can use all of its /64. */
export function addressKey(address: string): string {
  const plain = plainAddress(address);
  return isIPv6(plain) ? `${groups(plain).slice(0, 4).join(':')}::/64` : plain;
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function groups(address: string): string[] {
  // URL writes a dotted suffix as two groups, and drops leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [head, tail] = hostname.slice(1, -1).split('::', 2);
  const split = (part = '') => part.split(':').filter(Boolean);
  const [before, after] = [split(head), split(tail)];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** A token with its hash, which is computed once for all requests of a connection. */
export interface Token {
  readonly [TOKEN_TEXT]: string;
  /** Its key in caches, so that a memory dump is not a list of usable sessions. */
  readonly hash: string;
}

/** With other forwarded headers, and so another `digest` of them, the same token has another hash. */
export function toToken(text: string, digest = ''): Token {
  // No token has a line break, so different pairs give different texts.
  return {
    [TOKEN_TEXT]: text,
    hash: hash('sha256', digest === '' ? text : `${text}\n${digest}`, 'hex'),
  };
}
