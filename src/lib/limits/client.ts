import { type Account, textOf } from '../account.ts';
import { addressKey } from '../address-key.ts';

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
