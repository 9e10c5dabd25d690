import type { EventEmitter } from 'node:events';
import type { Account } from '../../lib/account.ts';

/** Events of accounts. Services that cache an account's answers listen to them, and are called in the order of creation. */
export type AccountEvents = EventEmitter<{
  /** An order has changed the account, or may have changed it. Answers to earlier calls are outdated. */
  changed: [account: Account];
}>;
