import { addressClient } from '../../lib/limits/client.ts';
import type { Caller } from '../caller.ts';

/** The account, or the network, that a call counts for. */
export interface CallAccount {
  readonly key: string;
  /** Otherwise the key is that of a network: anybody can claim to be many accounts. */
  readonly isProved: boolean;
}

/** Failures of all devices of an account count as one account's, and those of a network's unproved callers as one network's. */
export function accountOf(caller: Caller): CallAccount {
  const login = caller.provedLogin?.() ?? null;
  if (login !== null) return { key: login, isProved: true };
  return { key: addressClient(caller.client?.address).key, isProved: false };
}
