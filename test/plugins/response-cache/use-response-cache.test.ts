import type { ExecutionResult } from 'graphql';
import { describe, expect, test } from 'vitest';
import { FairScheduler } from '../../../src/lib/fair-scheduler.ts';
import { addressClient, type Client } from '../../../src/lib/limits/client.ts';
import { Meter } from '../../../src/plugins/cost/meter.ts';
import { GRAPH, type PluginContext, type Validity } from '../../../src/plugins/plugin.ts';
import { CachedResult, ResponseCache } from '../../../src/plugins/response-cache/response-cache.ts';
import {
  isNamed,
  useResponseCache,
} from '../../../src/plugins/response-cache/use-response-cache.ts';

interface Request {
  readonly variables?: object;
  readonly takesBytes?: boolean;
  readonly readsMore?: boolean;
  readonly isPersonal?: boolean;
  readonly validity?: () => Validity | Promise<Validity>;
  readonly result?: ExecutionResult;
}

const client = addressClient('192.0.2.1');
const VALIDITY = { version: 'v1 1 g', copy: '1 false', freshSeconds: 60 };

/** Requests of one document, each answered by the cache or by an execution. */
function documentOf() {
  const seen = { runs: 0, reads: [] as string[], charged: [] as number[] };
  const reads = {
    hit: { add: () => void seen.reads.push('hit') },
    miss: { add: () => void seen.reads.push('miss') },
  };
  const plugin = useResponseCache({
    cache: new ResponseCache(undefined, reads as never),
    limiter: {
      spend: (_name: string, _client: Client, cost: number) => void seen.charged.push(cost),
    } as never,
    confirms: true,
  });
  const use = { selectsTime: false };

  async function ask(request: Request = {}) {
    const { takesBytes = true, variables = {}, validity } = request;
    const operation = {
      client,
      transport: { takesBytes },
      prepared: {
        catalogUse: request.readsMore ? null : use,
        name: 'document',
      },
      values: { coerced: variables },
      cost: 7,
      meter: new Meter({
        maxFields: 1e6,
        scheduler: new FairScheduler(),
        client: 'a',
        estimate: 7,
      }),
    };
    const context = {
      operation,
      clientNow: () => client,
      catalogValidity: () => validity?.() ?? VALIDITY,
      isPersonal: request.isPersonal ?? false,
    };
    const contextValue = { [GRAPH]: context } as unknown as PluginContext;
    let execute = (_args: unknown): unknown => {
      seen.runs += 1;
      return request.result ?? { data: { run: seen.runs } };
    };
    const executeFn = execute;
    plugin.onExecute?.({
      args: { contextValue },
      executeFn,
      setExecuteFn: (wrapped: typeof execute) => {
        execute = wrapped;
      },
    } as never);
    const result = (await execute({ contextValue })) as ExecutionResult;
    return { result, fields: operation.meter.fields };
  }

  return { ask, seen };
}

test('a second request is answered by the bytes of the first, and charged its estimate', async () => {
  const { ask, seen } = documentOf();
  const first = (await ask()).result as CachedResult;
  expect(first).toBeInstanceOf(CachedResult);
  expect(first.sent.freshSeconds).toBe(60);
  expect(first).toEqual({ data: { run: 1 } });
  const { result: second, fields } = await ask();
  expect((second as CachedResult).sent.etag).toBe(first.sent.etag);
  expect(second.data).toEqual({ run: 1 });
  expect(fields).toBe(7);
  expect(seen).toEqual({ runs: 1, reads: ['miss', 'hit'], charged: [7] });
});

describe('is not kept, and executed again:', () => {
  const failed = { data: null, errors: [] as const };
  const unproved = () => {
    throw new Error('no');
  };

  test.each<[string, Request]>([
    ['what has errors', { result: failed }],
    ['what reads more than the catalog', { readsMore: true }],
    ['what a transport takes as no bytes', { takesBytes: false }],
    ['what nobody is proved for', { validity: () => Promise.reject(new Error('no')) }],
    ['what nobody is proved for at once', { validity: unproved }],
  ])('%s', async (_what, request) => {
    const { ask, seen } = documentOf();
    await ask();
    for (const runs of [2, 3]) {
      const variables = { other: true };
      expect((await ask({ ...request, variables })).result).not.toBeInstanceOf(CachedResult);
      expect(seen.runs).toBe(runs);
    }
    expect((await ask()).result.data).toEqual({ run: 1 });
  });

  test('what proves to be personal, and its document ever after', async () => {
    const { ask, seen } = documentOf();
    expect((await ask({ isPersonal: true })).result).not.toBeInstanceOf(CachedResult);
    expect((await ask()).result).not.toBeInstanceOf(CachedResult);
    expect(seen).toMatchObject({ runs: 2 });
    expect(seen.reads).not.toContain('hit');
  });
});

test.each([
  [undefined, false],
  ['W/"a"', true],
  ['W/"b", W/"a"', true],
  ['*', true],
  ['W/"b"', false],
])('an If-None-Match of %s names W/"a": %s', (given, named) => {
  expect(isNamed(given, 'W/"a"')).toBe(named);
});
