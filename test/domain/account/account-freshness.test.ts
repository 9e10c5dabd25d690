import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { AccountEvents } from '../../../src/domain/account/account-events.ts';
import { AccountFreshness } from '../../../src/domain/account/account-freshness.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import type { AccountVersion } from '../../../src/store/shared-store.ts';
import { accountNamed } from '../../support/accounts.ts';

/** The answer of a store, or its failure. */
type Stored = AccountVersion | Error;

test('an order of another replica is reported once, as is the expiry of its record; after a loss of the store any account may have changed', async () => {
  const reported: string[] = [];
  let stored: Stored = new Error('not asked yet');
  const accounts: AccountEvents = new EventEmitter();
  const logicalClock = new LogicalClock();
  const freshness = new AccountFreshness(accounts, logicalClock, {
    async read() {
      if (stored instanceof Error) throw stored;
      return stored;
    },
  });
  accounts.on('changed', (login) => void reported.push(login));
  /** The store's answer, whether account 1 is certain after it, and the reported accounts. `any` means all other accounts. */
  const steps: [Stored, ...unknown[]][] = [
    // While the store cannot be read, nothing is certain and nothing is reported.
    [new Error('away'), false],
    // Before the first answer this process may have missed orders.
    [{ epoch: 'a', version: null }, true, 'any'],
    [{ epoch: 'a', version: null }, true],
    [new Error('away'), false],
    [{ epoch: 'a', version: 'v1' }, true, '1'],
    [{ epoch: 'a', version: 'v1' }, true],
    [{ epoch: 'a', version: 'v2' }, true, '1'],
    [{ epoch: 'a', version: null }, true, '1'],
    [{ epoch: 'a', version: null }, true],
    [{ epoch: 'a', version: 'v3' }, true, '1'],
    [{ epoch: 'b', version: 'v3' }, true, 'any', '1'],
    [{ epoch: 'c', version: null }, true, 'any'],
  ];
  for (const [at, [next, ...expected]] of steps.entries()) {
    stored = next;
    const askedAt = logicalClock.next();
    const isCertain = await freshness.catchUp(accountNamed('1'));
    if (freshness.changedAt(accountNamed('other')) > askedAt) reported.unshift('any');
    expect(freshness.changedAt(accountNamed('1')) > askedAt).toBe(reported.length > 0);
    expect([isCertain, ...reported.splice(0)], `step ${at}`).toEqual(expected);
  }
  expect(freshness.byteSize).toBe(0);
});
