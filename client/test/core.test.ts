import { expect, test } from 'vitest';
import { createCore } from '../src/create-core.ts';
import { countedEnvironment } from './support/counted-environment.ts';

const NOWHERE = 'http://127.0.0.1:9/graphql';

test('a core that is disposed ends what hangs on it, once, whatever of that throws', () => {
  const thrown: unknown[] = [];
  const ended: string[] = [];
  const environment = countedEnvironment({
    after(_ms, task) {
      try {
        task();
      } catch (error) {
        thrown.push(error);
      }
      return () => {};
    },
  });
  const core = createCore({
    url: NOWHERE,
    token: () => null,
    storage: null,
    onSignedOut: () => {},
    route: false,
    environment,
  });
  const broken = new Error('of the first one');
  core.onDispose(() => {
    throw broken;
  });
  core.onDispose(() => {
    ended.push('second');
    // As a part does that begins nothing any more.
    ended.push(String(core.isDisposed));
  });
  expect(core.isDisposed).toBe(false);
  core.dispose();
  core.dispose();
  expect(ended).toEqual(['second', 'true']);
  expect(thrown).toEqual([broken]);
  core.onDispose(() => ended.push('late'));
  expect(ended.at(-1)).toBe('late');
});
