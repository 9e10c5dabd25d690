import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  type BackgroundFailure,
  fireAndForget,
  onBackgroundFailure,
} from '../../src/lib/fire-and-forget.ts';

test('a failure of background work reaches the listener, and does not end the process', async () => {
  const reported: BackgroundFailure[] = [];
  const forget = onBackgroundFailure((failure) => reported.push(failure));
  const error = new Error('no');
  fireAndForget('known keys', Promise.reject(error));
  fireAndForget('known keys', Promise.resolve());
  fireAndForget('known keys', undefined);
  await new Promise(setImmediate);
  expect(reported).toEqual([{ task: 'known keys', error }]);
  forget();
  const warning = once(process, 'warning');
  fireAndForget('known keys', Promise.reject(error));
  expect(await warning).toEqual([error]);
  expect(reported).toHaveLength(1);
});
