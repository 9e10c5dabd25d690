import { addressClient } from '../../lib/limits/client.ts';
import type { Caller } from '../caller.ts';

/** The account, or the network, that a call counts for. */
export interface CallAccount {
  readonly key: string;
  /** Whether the account is proved. Otherwise the key is that of a network, since anybody can claim to be many accounts. */
  readonly isProved: boolean;
}

/** All devices of a proved account count as one account, and all unproved callers of a network as one network. */
export function accountOf(caller: Caller): CallAccount {
  const login = caller.provedLogin?.() ?? null;
  if (login !== null) return { key: login, isProved: true };
  return { key: addressClient(caller.client?.address).key, isProved: false };
}
