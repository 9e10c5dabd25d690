import { GraphQLError, GraphQLSchema, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import type { GivenPlugin } from '../../../engine/plugins/open-plugins.ts';
import { startTestApp } from '../../support/app.ts';
import { send, TRANSPORTS } from '../../support/four-transports.ts';
import { generalPathCount } from '../../support/general-path-count.ts';

const OF_HTTP = [
  'onYogaInit',
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
];

/** Counts what it sees by each of these hooks. */
function counting(hooks: readonly string[]) {
  const seen: Record<string, number> = {};
  const plugin = Object.fromEntries(
    hooks.map((hook) => [
      hook,
      () => {
        seen[hook] = (seen[hook] ?? 0) + 1;
      },
    ]),
  );
  return { seen, plugin };
}

async function startWith(plugins: readonly GivenPlugin[], directPath = true) {
  return startTestApp({}, { plugins, directPath });
}

test('without hooks of HTTP the direct path serves, and the log’s first line says so', async () => {
  const { plugin, seen } = counting(['onExecute']);
  await using app = await startWith([plugin]);
  expect(app.logged[0]).toContain('the direct path serves HTTP');
  for (const transport of TRANSPORTS) await send(app, transport, '{ __typename }');
  expect(seen).toEqual({ onExecute: 4 });
  expect(await generalPathCount(app)).toBe(0);
});

test.each(OF_HTTP)(
  'with %s yoga serves all HTTP from the start, and the log’s first line says why',
  async (hook) => {
    const { plugin, seen } = counting([hook, 'onExecute']);
    await using app = await startWith([{ plugin: { name: 'mine', ...plugin }, httpOnly: true }]);
    expect(JSON.parse(app.logged[0] as string)).toMatchObject({
      msg: 'yoga serves all HTTP',
      because: `plugin 1 of the list (mine) has ${hook}`,
    });
    if (hook === 'onYogaInit') expect(seen).toEqual({ onYogaInit: 1 });
    for (const transport of TRANSPORTS) {
      expect((await send(app, transport, '{ __typename }')).data).toEqual({ __typename: 'Query' });
    }
    expect(await generalPathCount(app)).toBe(3);
    expect(seen).toEqual({ [hook]: hook === 'onYogaInit' ? 1 : 3, onExecute: 4 });
  },
);

test('a hook of HTTP changes requests, results and responses', async () => {
  const plugin: Plugin = {
    onParams: ({ params, setParams }) => setParams({ ...params, query: '{ changed: __typename }' }),
    onExecutionResult: ({ result, setResult }) =>
      setResult({ ...(result as object), extensions: { mine: 1 } }),
    onResponse: ({ response }) => response.headers.set('x-mine', 'yes'),
  };
  await using app = await startWith([{ plugin, httpOnly: true }]);
  for (const transport of ['POST', 'GET', 'event stream'] as const) {
    const { data, text, headers } = await send(app, transport, '{ __typename }');
    expect(data).toEqual({ changed: 'Query' });
    expect(text).toContain('"extensions":{"mine":1}');
    expect(headers.get('x-mine')).toBe('yes');
  }
});

describe('the start stops', () => {
  const noop = () => {};
  const fail = () => {
    throw new Error('no such thing');
  };
  const another = new GraphQLSchema({});
  test.each<[string, (Plugin & Record<string, unknown>)[], RegExp]>([
    [
      'for a hook of HTTP that is not said to guard HTTP alone',
      [{ name: 'csrf', onRequestParse: noop }],
      /plugin 1 of the list \(csrf\) has onRequestParse.*httpOnly/,
    ],
    [
      'for a span of HTTP',
      [{}, { instrumentation: { request: noop } }],
      /plugin 2 of the list has instrumentation\.request/,
    ],
    [
      'for a hook that nothing calls',
      [{ name: 'old', onResolverCalled: noop }],
      /plugin 1 of the list \(old\) has onResolverCalled, which nothing calls/,
    ],
    ['for a hook of our own', [{ onAdmit: noop }], /onAdmit, which nothing calls/],
    [
      'for a plugin that adds one with a hook of HTTP',
      [{ onPluginInit: ({ addPlugin }) => addPlugin({ onParams: noop } as Plugin) }],
      /plugin 1 of the list, by a plugin that it adds, has onParams/,
    ],
    [
      'for one that replaces the schema',
      [{ onSchemaChange: ({ replaceSchema }) => replaceSchema(another) }],
      /replaces the schema/,
    ],
    [
      'for one that sets another schema',
      [{ onPluginInit: ({ setSchema }) => setSchema(another) }],
      /replaces the schema/,
    ],
    [
      'for one that fails as it begins',
      [{ onSchemaChange: fail }],
      /plugin 1 of the list cannot begin: Error: no such thing/,
    ],
    ['for what is no plugin', [null as never], /plugin 1 of the list is none/],
    [
      'for a hook that fails as yoga begins',
      [{ plugin: { onYogaInit: fail }, httpOnly: true }],
      /no such thing/,
    ],
  ])('%s', async (_why, plugins, problem) => {
    await expect(startWith(plugins)).rejects.toThrow(problem);
  });
});

test.each(['onRequest', 'onResponse'])(
  'what %s refuses has the code and the status of a request',
  async (hook) => {
    const plugin = {
      [hook]() {
        throw new GraphQLError('not so');
      },
    };
    await using app = await startWith([{ plugin, httpOnly: true }]);
    const { status, errors } = await send(app, 'POST', '{ __typename }');
    expect([status, errors[0]?.extensions.code]).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
  },
);

test('a result that onParams puts in the place of an operation is sent as it is', async () => {
  const result = { data: { __typename: 'Mine' } };
  const plugin: Plugin = { onParams: ({ setResult }) => setResult(result) };
  await using app = await startWith([{ plugin, httpOnly: true }]);
  expect(await send(app, 'POST', '{ __typename }')).toMatchObject({ status: 200, ...result });
});

describe('onDispose', () => {
  test('runs at the shutdown, of every plugin, whatever one of them fails with', async () => {
    const seen: string[] = [];
    const disposing = (name: string) => ({ onDispose: async () => void seen.push(name) });
    const failing = { onDispose: async () => Promise.reject(new Error('left open')) };
    const app = await startWith([disposing('first'), failing, disposing('last')]);
    await app.close();
    expect(seen).toEqual(['first', 'last']);
    expect(app.logged.some((line) => line.includes('left open'))).toBe(true);
  });

  test('delays the shutdown by the grace at most', async () => {
    let isDisposing = false;
    const onDispose = () => {
      isDisposing = true;
      return new Promise(() => {});
    };
    const grace = { ORDER_TIMEOUT_MS: '500', SHUTDOWN_GRACE_MS: '1000' };
    const app = await startTestApp(grace, { plugins: [{ onDispose }] });
    await app.close();
    expect(isDisposing).toBe(true);
  });
});

describe.each([true, false])('with the direct path %s', (directPath) => {
  test.each([
    ['a rule', {}, 200, 400],
    ['a rule with a status', { http: { status: 403 } }, 403, 403],
  ])('an operation refused by %s has one status', async (_what, extensions, plain, typed) => {
    const rule: ValidationRule = (context) => ({
      Field: () => context.reportError(new GraphQLError('never', { extensions })),
    });
    const plugin: Plugin = { onValidate: ({ addValidationRule }) => addValidationRule(rule) };
    await using app = await startWith([plugin], directPath);
    for (const [accept, expected] of [
      ['application/json', plain],
      ['application/graphql-response+json', typed],
    ] as const) {
      const { status, errors } = await send(app, 'POST', '{ __typename }', { headers: { accept } });
      expect([accept, status]).toEqual([accept, expected]);
      expect(errors).toMatchObject([{ message: 'never', extensions: { retryable: false } }]);
    }
  });
});
