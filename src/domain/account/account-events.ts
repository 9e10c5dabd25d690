import type { EventEmitter } from 'node:events';
import type { Account } from '../../lib/account.ts';

/** Events of accounts. Services that cache answers of an account listen to them, in the order in which they are created. */
export type AccountEvents = EventEmitter<{
  /** An order has changed the account, or may have changed it. Answers to earlier calls are outdated. */
  changed: [account: Account];
}>;
