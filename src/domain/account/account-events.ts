import type { EventEmitter } from 'node:events';
import type { Account } from '../../lib/account.ts';

/**
 * All that is heard of accounts, whoever hears it. It is made before everything that remembers something of an account, which
 * listens from then on; they hear in the order in which they were made.
 */
export type AccountEvents = EventEmitter<{
  /** An order has changed the account, or may have: what was asked for before is outdated. */
  changed: [account: Account];
}>;
