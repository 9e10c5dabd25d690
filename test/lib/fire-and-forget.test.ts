import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  type BackgroundFailure,
  fireAndForget,
  onBackgroundFailure,
} from '../../src/lib/fire-and-forget.ts';

test('a failure of background work reaches the listener, and ends no process', async () => {
  const told: BackgroundFailure[] = [];
  const forget = onBackgroundFailure((failure) => told.push(failure));
  const error = new Error('no');
  fireAndForget('known keys', Promise.reject(error));
  fireAndForget('known keys', Promise.resolve());
  fireAndForget('known keys', undefined);
  await new Promise(setImmediate);
  expect(told).toEqual([{ task: 'known keys', error }]);
  forget();
  const warning = once(process, 'warning');
  fireAndForget('known keys', Promise.reject(error));
  expect(await warning).toEqual([error]);
  expect(told).toHaveLength(1);
});
