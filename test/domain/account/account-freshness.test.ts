import { expect, test } from 'vitest';
import { AccountReads } from '../../../src/domain/account/account-reads.ts';
import { textOf } from '../../../src/lib/account.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import type { AccountVersion } from '../../../src/store/shared-store.ts';
import { accountNamed } from '../../support/accounts.ts';

/** The answer of a store, or its failure. */
type Stored = AccountVersion | Error;

test('a change by another replica, or a possible change, is reported once', async () => {
  /** Accounts reported as changed. `any` means that all accounts may have changed. */
  const reported: string[] = [];
  let stored: Stored = new Error('not asked yet');
  const logicalClock = new LogicalClock();
  const versions = {
    async read() {
      if (stored instanceof Error) throw stored;
      return stored;
    },
  };
  const freshness = new AccountReads(logicalClock, versions, (account) =>
    reported.push(textOf(account)),
  );
  /** The store's answer, whether all changes of account 1 are known then, and what is reported. */
  const steps: [Stored, boolean, string[]][] = [
    // While the store cannot be read, nothing is certain and nothing is reported.
    [new Error('away'), false, []],
    // Before the first answer this process may have missed orders.
    [{ epoch: 'a', version: null }, true, ['any']],
    [{ epoch: 'a', version: null }, true, []],
    [new Error('away'), false, []],
    // Another replica placed an order.
    [{ epoch: 'a', version: 'v1' }, true, ['1']],
    [{ epoch: 'a', version: 'v1' }, true, []],
    [{ epoch: 'a', version: 'v2' }, true, ['1']],
    // The version has expired.
    [{ epoch: 'a', version: null }, true, ['1']],
    [{ epoch: 'a', version: null }, true, []],
    [{ epoch: 'a', version: 'v3' }, true, ['1']],
    // Another epoch means that the store has lost its data.
    [{ epoch: 'b', version: 'v3' }, true, ['any', '1']],
    [{ epoch: 'c', version: null }, true, ['any']],
  ];
  for (const [index, [answer, allKnown, expected]] of steps.entries()) {
    stored = answer;
    const beforeTime = logicalClock.next();
    const isCertain = await freshness.catchUp(accountNamed('1'));
    const isOtherStale = freshness.changedAt(accountNamed('other')) > beforeTime;
    if (isOtherStale) reported.unshift('any');
    const isStale = freshness.changedAt(accountNamed('1')) > beforeTime;
    expect(isStale).toBe(reported.length > 0);
    expect(isCertain).toBe(allKnown);
    expect(reported.splice(0), `step ${index}`).toEqual(expected);
  }
  expect(freshness.byteSize).toBe(0);
});
