import type { EventEmitter } from 'node:events';
import type { Account } from '../../lib/account.ts';

/** Events of accounts. Each service that keeps answers of an account listens to them, in the order in which the services are created. */
export type AccountEvents = EventEmitter<{
  /** An order has changed the account, or may have: answers to earlier calls are outdated. */
  changed: [account: Account];
}>;
