import { GraphQLError, GraphQLSchema, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import type { OtherPlugin } from '../../../engine/index.ts';
import { startTestApp } from '../../support/app.ts';
import { send, TRANSPORTS } from '../../support/four-transports.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';

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

/** A refusal by a code of the plugin's own. */
const refusal = (status: number) =>
  new GraphQLError('no', { extensions: { code: 'LICENCE', http: { status } } });
const refuse = (status: number): never => {
  throw refusal(status);
};

async function startWith(plugins: readonly OtherPlugin[]) {
  return startTestApp({}, { plugins });
}

test.each(OF_HTTP)(
  '%s is called for each request over HTTP and for no WebSocket, and the log’s first line says so',
  async (hook) => {
    const { plugin, seen } = counting([hook, 'onExecute']);
    await using app = await startWith([{ name: 'mine', ...plugin }]);
    expect(JSON.parse(app.logged[0] as string)).toMatchObject({
      hooks: [`plugin 1 of the list (mine) has ${hook}`],
    });
    if (hook === 'onYogaInit') expect(seen).toEqual({ onYogaInit: 1 });
    for (const transport of TRANSPORTS) {
      expect((await send(app, transport, '{ __typename }')).data).toEqual({ __typename: 'Query' });
    }
    expect(seen).toEqual({ [hook]: hook === 'onYogaInit' ? 1 : 3, onExecute: 4 });
  },
);

test('a span of requests is around each over HTTP, and one of executions around each of all, once', async () => {
  const spans: string[] = [];
  const spanning = (name: string) => (_payload: unknown, wrapped: () => unknown) => {
    spans.push(name);
    return wrapped();
  };
  const instrumentation = { request: spanning('request'), execute: spanning('execute') };
  await using app = await startWith([{ instrumentation, onResponse() {} }]);
  expect(app.logged[0]).toContain('plugin 1 of the list has instrumentation.request');
  for (const transport of TRANSPORTS) await send(app, transport, '{ __typename }');
  expect(spans.sort()).toEqual([...Array(4).fill('execute'), ...Array(3).fill('request')]);
});

test('a hook of HTTP changes requests, results and responses, and its refusal has the status of a request', async () => {
  const plugin: Plugin = {
    onRequest({ request }) {
      if (request.headers.has('x-refused')) throw new GraphQLError('not so');
    },
    onParams: ({ params, setParams, setResult }) =>
      params.operationName === 'Mine'
        ? setResult({ data: { __typename: 'Mine' } })
        : setParams({ ...params, query: '{ changed: __typename }' }),
    onExecutionResult: ({ result, setResult }) =>
      setResult({ ...(result as object), extensions: { mine: 1 } }),
    onResponse({ response: { headers } }) {
      headers.set('x-mine', 'yes');
      headers.append('vary', 'x-mine');
      for (const cookie of ['a=1', 'b=2']) headers.append('set-cookie', cookie);
    },
  };
  await using app = await startWith([plugin]);
  for (const transport of ['POST', 'GET', 'event stream'] as const) {
    const { data, text, headers } = await send(app, transport, '{ __typename }');
    expect(data).toEqual({ changed: 'Query' });
    expect(text).toContain('"extensions":{"mine":1}');
    expect(headers.get('x-mine')).toBe('yes');
    expect(headers.get('vary')).toMatch(/^Authorization, .*, x-mine$/);
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  }
  const own = await send(app, 'POST', { query: '{ __typename }', operationName: 'Mine' });
  expect(own).toMatchObject({ status: 200, data: { __typename: 'Mine' } });
  const refused = await send(app, 'POST', '{ a }', { headers: { 'x-refused': 'yes' } });
  expect(refused).toMatchObject({
    status: 400,
    errors: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }],
  });
});

describe('the start stops', () => {
  const noop = () => {};
  const fail = () => {
    throw new Error('no such thing');
  };
  const another = new GraphQLSchema({});
  test.each<[string, (Plugin & Record<string, unknown>)[], RegExp]>([
    [
      'for a hook that nothing calls',
      [{ name: 'old', onResolverCalled: noop }],
      /plugin 1 of the list \(old\) has onResolverCalled, which nothing calls/,
    ],
    ['for a hook of our own', [{ onAdmit: noop }], /onAdmit, which nothing calls/],
    [
      'for a plugin that adds one with a hook that nothing calls',
      [{ onPluginInit: ({ addPlugin }) => addPlugin({ onAdmit: noop } as Plugin) }],
      /plugin 1 of the list, by a plugin that it adds, has onAdmit/,
    ],
    [
      'for one that replaces the schema',
      [{ onSchemaChange: ({ replaceSchema }) => replaceSchema(another) }],
      /replaces the schema/,
    ],
    [
      'for one that fails as it begins',
      [{ onSchemaChange: fail }],
      /plugin 1 of the list cannot begin: Error: no such thing/,
    ],
    ['for what is no plugin', [null as never], /plugin 1 of the list is none/],
    ['for a hook that fails as yoga begins', [{ onYogaInit: fail }], /no such thing/],
  ])('%s', async (_why, plugins, problem) => {
    await expect(startWith(plugins)).rejects.toThrow(problem);
  });
});

test.each<[number, string, Plugin['onExecute']]>([
  [503, 'fault', () => refuse(503)],
  [402, 'caller', () => refuse(402)],
  [500, 'fault', ({ setResultAndStopExecution: stop }) => stop({ errors: [refusal(500)] })],
])(
  'a plugin’s own code with status %i is counted, and is the %s’s',
  async (status, outcome, onExecute) => {
    await using app = await startWith([{ onExecute } as Plugin]);
    const answer = await app.query('{ __typename }');
    expect(answer.status).toBe(status);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'LICENCE' } }]);
    expect(await seriesValue(app, 'errors_total{code="other",operation="none"}')).toBe(1);
    expect(outcomesOf(app, 'LICENCE')).toEqual([outcome]);
  },
);

test('onDispose runs at the shutdown, of every plugin, whatever one fails with, and delays it by the grace at most', async () => {
  const seen: string[] = [];
  const disposing = (name: string, end = Promise.resolve()) => ({
    onDispose() {
      seen.push(name);
      return end;
    },
  });
  const failing = { onDispose: async () => Promise.reject(new Error('left open')) };
  const plugins = [
    ...[disposing('first'), failing],
    ...[disposing('hanging', new Promise(() => {})), disposing('last')],
  ];
  const grace = { ORDER_TIMEOUT_MS: '500', SHUTDOWN_GRACE_MS: '1000' };
  const app = await startTestApp(grace, { plugins });
  await app.close();
  expect(seen).toEqual(['first', 'hanging', 'last']);
  expect(app.logged.some((line) => line.includes('left open'))).toBe(true);
});

test.each([
  ['a rule', {}, 200, 400],
  ['a rule with a status', { http: { status: 403 } }, 403, 403],
])('an operation refused by %s has one status', async (_what, extensions, plain, typed) => {
  const rule: ValidationRule = (context) => ({
    Field: () => context.reportError(new GraphQLError('never', { extensions })),
  });
  const plugin: Plugin = { onValidate: ({ addValidationRule }) => addValidationRule(rule) };
  await using app = await startWith([plugin]);
  for (const [accept, expected] of [
    ['application/json', plain],
    ['application/graphql-response+json', typed],
  ] as const) {
    const { status, errors } = await send(app, 'POST', '{ __typename }', { headers: { accept } });
    expect([accept, status]).toEqual([accept, expected]);
    expect(errors).toMatchObject([{ message: 'never', extensions: { retryable: false } }]);
  }
});
