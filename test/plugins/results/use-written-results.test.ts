import type { ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import { FairScheduler } from '../../../src/lib/fair-scheduler.ts';
import { COSTLY_FIELDS, Meter } from '../../../src/plugins/cost/meter.ts';
import type { OperationContext } from '../../../src/plugins/plugin.ts';
import { CachedResult } from '../../../src/plugins/response-cache/response-cache.ts';
import { WrittenResult } from '../../../src/plugins/results/json-text.ts';
import { useWrittenResults } from '../../../src/plugins/results/use-written-results.ts';

/** What yoga is handed for a result of an operation with this estimate. */
async function written(result: ExecutionResult, estimate: number): Promise<ExecutionResult> {
  const scheduler = new FairScheduler();
  const meter = new Meter({ maxFields: 1e6, scheduler, client: 'a', estimate });
  const contextValue = { operation: { meter } } as unknown as OperationContext;
  const hooks = useWrittenResults().onExecute?.({} as never) as {
    onExecuteDone(done: object): Promise<void> | undefined;
  };
  let last = result;
  const setResult = (changed: ExecutionResult) => {
    last = changed;
  };
  await hooks.onExecuteDone({ args: { contextValue }, result, setResult });
  return last;
}

const COSTLY = COSTLY_FIELDS + 1;

test('a large result is written, and its data are still there for others to see', async () => {
  const result = { data: { a: [1, null], b: 'ä' }, extensions: { c: 1 } };
  const changed = (await written(result, COSTLY)) as WrittenResult;
  expect(changed).toBeInstanceOf(WrittenResult);
  expect(changed.data).toBe(result.data);
  expect(changed.stringify()).toBe(JSON.stringify(result));
});

test('a small result and cached bytes are left as they are', async () => {
  const small = { data: { a: 1 } };
  expect(await written(small, 1)).toBe(small);
  const bytes = Buffer.from('{"data":{}}');
  const cached = new CachedResult({ etag: 'a', freshSeconds: 1, bytes, packed: null });
  expect(await written(cached, COSTLY)).toBe(cached);
  expect(await written(cached, 1)).toBe(cached);
});
