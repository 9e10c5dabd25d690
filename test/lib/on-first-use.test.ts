import { expect, test } from 'vitest';
import { onFirstUse } from '../../src/lib/on-first-use.ts';

test('loads once for all uses, also for those that come meanwhile', async () => {
  let loads = 0;
  const use = onFirstUse(async () => {
    loads += 1;
    return loads;
  });
  expect(loads).toBe(0);
  expect(await Promise.all([use(), use()])).toEqual([1, 1]);
  expect(await use()).toBe(1);
});

test('loads again after a failure, which all that waited for it are given', async () => {
  const outcomes = [Promise.reject(new Error('no file')), Promise.resolve('loaded')];
  outcomes[0]?.catch(() => {});
  const use = onFirstUse(() => outcomes.shift() ?? Promise.reject(new Error('once too often')));
  const failed = await Promise.allSettled([use(), use()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await use()).toBe('loaded');
  expect(await use()).toBe('loaded');
});
