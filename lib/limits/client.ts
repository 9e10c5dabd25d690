import type { Account } from '../account.ts';
import { networksOf } from '../address-key.ts';

// A revocation is seen only when a token is used: until then as much as this is kept for the account's other tokens.
const TOKEN_SHARE = 1 / 2;
/** The shares of the /64, /56 and /48 of an IPv6 address: providers give customers, or many of them, the larger ones. */
const NETWORK_SHARES = [1, 4, 16];

/** The kinds of clients that limits are charged to; the owner of a limit may have kinds of its own. */
export type ClientKind = 'account' | 'address' | 'token' | (string & {});

/** The one that something is charged to. */
export interface Client {
  readonly kind: ClientKind;
  readonly key: string;
  /** The key of a proved account. */
  readonly account?: Account;
  /** All that it is charged to, the narrowest first. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly key: string;
  /** Its share of a limit. */
  readonly share: number;
  /** Beside that, what it keeps for each narrower part that has not used up its own: beyond that it lends what it has. */
  readonly keeps?: number;
}

/** A proved account, by one of its tokens. */
export function accountClient(account: Account, tokenHash: string): Client {
  const key = `account ${account}`;
  const token = { key: `token ${tokenHash}`, share: TOKEN_SHARE };
  const whole = { key, share: 1, keeps: TOKEN_SHARE };
  return { kind: 'account', key, account, parts: [token, whole] };
}

const MAX_KNOWN = 4_096;
const known = new Map<string, Client>();

/** Memoized: each request asks for it several times. */
export function addressClient(address = ''): Client {
  const before = known.get(address);
  if (before) return before;
  const parts = networksOf(address).map((network, at) => ({
    key: `address ${network}`,
    share: NETWORK_SHARES[at] as number,
  }));
  const client: Client = { kind: 'address', key: parts[0]?.key ?? '', parts };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(address, client);
  return client;
}

export function singleClient(kind: ClientKind, name: string): Client {
  const key = `${kind} ${name}`;
  return { kind, key, parts: [{ key, share: 1 }] };
}

/** The same client with regard to one thing, of which it has a limit of its own. */
export function regarding(client: Client, thing: string, kind = client.kind): Client {
  const parts = client.parts.map((part) => ({ ...part, key: `${part.key} ${thing}` }));
  return { ...client, kind, parts };
}
