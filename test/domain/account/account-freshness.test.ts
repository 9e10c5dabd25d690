import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import type { AccountEvents } from '../../../src/domain/account/account-events.ts';
import { createAccountFreshness } from '../../../src/domain/account/account-freshness.ts';
import type { AccountVersion } from '../../../src/store/redis/account-versions.ts';

/** The answer of a store, or its failure. */
type Stored = AccountVersion | Error;

function follow() {
  const told: string[] = [];
  const state: { stored: Stored } = { stored: new Error('not asked yet') };
  const accounts: AccountEvents = new EventEmitter();
  const logicalClock = new LogicalClock();
  const freshness = createAccountFreshness(accounts, logicalClock, {
    async read() {
      if (state.stored instanceof Error) throw state.stored;
      return state.stored;
    },
  });
  accounts.on('changed', (login) => void told.push(login));
  return {
    accounts,
    freshness,
    logicalClock,
    /**
     * Resolves to whether account 1 is certain and to all that was told of it, once the store says this; `any` where what
     * was asked for of other accounts is outdated as well.
     */
    async after(stored: Stored) {
      state.stored = stored;
      const askedAt = logicalClock.next();
      const isCertain = await freshness.catchUp('1');
      if (freshness.changedAt('other') > askedAt) told.unshift('any');
      expect(freshness.changedAt('1') > askedAt).toBe(told.length > 0);
      return [isCertain, ...told.splice(0)];
    },
  };
}

test('an order of another replica is told once, and so is the end of its record', async () => {
  const { after } = follow();
  // The first answer may follow orders of which nobody has told this process.
  expect(await after({ epoch: 'a', version: null })).toEqual([true, 'any']);
  expect(await after({ epoch: 'a', version: null })).toEqual([true]);
  expect(await after({ epoch: 'a', version: 'v1' })).toEqual([true, '1']);
  expect(await after({ epoch: 'a', version: 'v1' })).toEqual([true]);
  expect(await after({ epoch: 'a', version: 'v2' })).toEqual([true, '1']);
  expect(await after({ epoch: 'a', version: null })).toEqual([true, '1']);
  expect(await after({ epoch: 'a', version: null })).toEqual([true]);
});

test('a store that has lost what it held may have lost orders of any account', async () => {
  const { after, freshness } = follow();
  await after({ epoch: 'a', version: 'v1' });
  expect(freshness.byteSize).toBeGreaterThan(0);
  expect(await after({ epoch: 'b', version: 'v1' })).toEqual([true, 'any', '1']);
  expect(await after({ epoch: 'c', version: null })).toEqual([true, 'any']);
  expect(freshness.byteSize).toBe(0);
});

test('while the store cannot be read nothing is certain, and nothing is told', async () => {
  const { after } = follow();
  expect(await after(new Error('away'))).toEqual([false]);
  expect(await after({ epoch: 'a', version: null })).toEqual([true, 'any']);
  expect(await after(new Error('away'))).toEqual([false]);
  expect(await after({ epoch: 'a', version: null })).toEqual([true]);
});

test('no number of changed accounts makes what was asked for before an order current again', () => {
  const { accounts, freshness, logicalClock } = follow();
  const before = logicalClock.next();
  accounts.emit('changed', '1');
  const between = logicalClock.next();
  for (let at = 0; at < 100_000; at += 1) accounts.emit('changed', `other ${at}`);
  expect(freshness.changedAt('1')).toBeGreaterThan(before);
  // A change that is forgotten counts at its time, and not later.
  expect(freshness.changedAt('1')).toBeLessThan(between);
});
