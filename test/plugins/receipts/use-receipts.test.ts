import type { ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import { GRAPH, type PluginContext, type RunCost } from '../../../src/plugins/plugin.ts';
import { useReceipts } from '../../../src/plugins/receipts/use-receipts.ts';
import { CachedResult } from '../../../src/plugins/response-cache/response-cache.ts';

const contextValue = {
  [GRAPH]: { operation: { cost: 7, meter: { fields: 5 } }, receipt: (run: RunCost) => run },
} as unknown as PluginContext;

/** What a transport is handed for a result. */
function reported(result: ExecutionResult): ExecutionResult {
  const { onExecute } = useReceipts();
  const hooks = onExecute?.({} as never) as { onExecuteDone(done: object): void };
  let last = result;
  const setResult = (changed: ExecutionResult) => {
    last = changed;
  };
  hooks.onExecuteDone({ args: { contextValue }, result, setResult });
  return last;
}

const RECEIPT = { cost: 7, fields: 5, waitedMs: 0 };

test('a result has its receipt beside its data and its errors', () => {
  const errors = [] as const;
  expect(reported({ data: { a: 1 }, errors })).toEqual({
    data: { a: 1 },
    errors,
    extensions: RECEIPT,
  });
});

test('cached bytes have it as well, under the same ETag, and the cache keeps its own', () => {
  const bytes = Buffer.from('{"data":{"a":1}}');
  const cached = new CachedResult({ etag: 'W/"1"', freshSeconds: 3, bytes, packed: null });
  const result = reported(cached) as CachedResult;
  expect(JSON.parse(String(result.sent.bytes))).toEqual({ data: { a: 1 }, extensions: RECEIPT });
  expect(result.sent).toMatchObject({ etag: 'W/"1"', freshSeconds: 3, packed: null });
  expect(String(cached.sent.bytes)).toBe('{"data":{"a":1}}');
});

test('an answer that the client has already has none', () => {
  const unchanged = new CachedResult({ etag: 'W/"1"', freshSeconds: 3, bytes: null, packed: null });
  expect(reported(unchanged)).toBe(unchanged);
});
