import { usePrometheus } from '@envelop/prometheus';
import { type FieldNode, GraphQLError, type ValidationContext } from 'graphql';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { TeamPlugin } from '../../src/engine/index.ts';
import { TOKEN_TEXT } from '../../src/lib/account.ts';
import { startTestApp } from '../support/app.ts';
import { buying } from '../support/buying.ts';
import { eventually } from '../support/eventually.ts';
import { send, TRANSPORTS } from '../support/four-transports.ts';
import { initializedSocket } from './live/raw-socket.ts';

const LIVE = 'subscription Live { positionChanges { cursor } }';

test('a published plugin counts operations, errors and subscriptions of every transport', async () => {
  const registry = new Registry();
  const metrics = {
    graphql_envelop_request: true,
    graphql_envelop_error_result: true,
    graphql_envelop_phase_subscribe: true,
  };
  await using app = await startTestApp({}, { plugins: [usePrometheus({ registry, metrics })] });
  const token = await app.signIn();
  for (const transport of TRANSPORTS) {
    const { data } = await send(app, transport, 'query Asked { customerId }', { token });
    expect(data.customerId).toBe('cus_700001');
  }
  await app.query('query Failing { session(maxAge: -1) { balance } }', { token });
  expect((await send(app, 'event stream', LIVE, { token })).text).toContain('cursor');
  const counted = await registry.metrics();
  expect(counted).toMatch(/graphql_envelop_request\{[^}]*operationName="Asked"[^}]*\} 4/);
  expect(counted).toMatch(/graphql_envelop_error_result\{[^}]*operationName="Failing"[^}]*\} 1/);
  // Subscriptions are counted when they end.
  await eventually(async () =>
    expect(await registry.metrics()).toMatch(/graphql_envelop_phase_subscribe_count\{[^}]*\} 1/),
  );
});

describe('a plugin', () => {
  test('can refuse an operation by its caller or headers, with its own code and before it is executed', async () => {
    const received: unknown[] = [];
    const plugin: TeamPlugin = {
      onExecute({ args: { contextValue } }) {
        const { caller, headers } = contextValue;
        received.push([caller.token?.[TOKEN_TEXT], headers['x-mine']]);
        throw new GraphQLError('not today', { extensions: { code: 'CLOSED' } });
      },
    };
    await using app = await startTestApp({}, { plugins: [plugin] });
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const headers = { 'x-mine': 'yes' };
    const { data, errors } = await app.query('{ customerId }', { token, headers });
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([
      { message: 'not today', extensions: { code: 'CLOSED', retryable: false } },
    ]);
    expect(received).toEqual([[token, 'yes']]);
    expect(app.sandbox.calls('getCustomerId')).toBe(0);
  });

  test('can refuse with an error of GraphQL, but causes INTERNAL with any other error', async () => {
    const rule: TeamPlugin = {
      onValidate({ addValidationRule }) {
        addValidationRule((context: ValidationContext) => ({
          Field({ name }: FieldNode) {
            if (name.value === 'customerId') context.reportError(new GraphQLError('not that'));
          },
        }));
      },
      onParse({ params }) {
        if (String(params.source).includes('session')) throw new TypeError('a secret');
      },
    };
    await using app = await startTestApp({}, { plugins: [rule] });
    const errorsOf = async (query: string) => {
      const { errors } = await app.query(query);
      return errors.map(({ message, extensions }) => [message, extensions.code]);
    };
    expect(await errorsOf('{ customerId }')).toEqual([['not that', 'GRAPHQL_VALIDATION_FAILED']]);
    expect(await errorsOf('{ session { id } }')).toEqual([
      ['Something went wrong here.', 'INTERNAL'],
    ]);
  });

  test('that fails after an order cannot hide its outcome with its own code', async () => {
    const throwError = () => {
      throw new GraphQLError('no', { extensions: { code: 'FORBIDDEN' } });
    };
    interface Done {
      readonly result: object;
      readonly setResult: (result: object) => void;
    }
    const errors = [new GraphQLError('no', { extensions: { code: 'FORBIDDEN' } })];
    const replaceResult = ({ setResult }: Done) => setResult({ errors });
    const replaceField = ({ setResult }: Done) => setResult({ data: { placeOrder: null }, errors });
    const changeField = ({ result, setResult }: Done) => {
      if ('data' in result) Object.assign(result.data as object, { placeOrder: null });
      setResult({ ...result, errors });
    };
    for (const onExecuteDone of [throwError, replaceResult, replaceField, changeField]) {
      const plugin: TeamPlugin = {
        onExecute({ args }) {
          const isOrder = String(args.document.loc?.source.body).includes('placeOrder');
          return isOrder ? { onExecuteDone } : undefined;
        },
      };
      await using app = await startTestApp({}, { plugins: [plugin] });
      const token = await app.signIn();
      const { errors } = await app.query(buying('a-key', '__typename'), { token });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL']);
      expect(errors[0]?.extensions).not.toHaveProperty('sent');
      expect(app.sandbox.calls('openPosition')).toBe(1);
    }
  });

  test('can change the events of a subscription, which still ends when its client leaves', async () => {
    const plugin: TeamPlugin = {
      onSubscribe: () => ({
        onSubscribeResult: () => ({
          onNext: ({ setResult }) => setResult({ data: { positionChanges: { cursor: 'mine' } } }),
        }),
      }),
    };
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });
    const token = await app.signIn();
    {
      using socket = await initializedSocket(app, token);
      socket.subscribe('1', LIVE);
      const { payload } = await socket.until('1', 'next');
      expect(payload.data.positionChanges.cursor).toBe('mine');
    }
    const subscriptions = async () =>
      /_subscriptions (\d+)/.exec(await (await fetch(`${app.adminUrl}/metrics`)).text())?.[1];
    await eventually(async () => expect(await subscriptions()).toBe('0'));
  });

  test.each([
    ['change it', 'extensions":{"seen":2}'],
    ['fail, which is the last part', '"code":"INTERNAL"'],
  ])('sees each part of a deferred answer, and can %s', async (what, shown) => {
    const seen: unknown[] = [];
    const plugin: TeamPlugin = {
      onExecute: () => ({
        onExecuteDone: () => ({
          onNext: ({ result, setResult }) => {
            seen.push(Object.keys(result));
            if (what !== 'change it' && seen.length === 2) throw new Error('a secret');
            setResult({ ...result, extensions: { seen: seen.length } });
          },
        }),
      }),
    };
    await using app = await startTestApp({}, { plugins: [plugin] });
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'multipart/mixed;deferSpec=20220824',
        authorization: `Bearer ${await app.signIn()}`,
      },
      body: JSON.stringify({ query: '{ session { id } ... @defer { customerId } }' }),
    });
    const text = await response.text();
    expect(seen).toHaveLength(2);
    expect(text).toContain('"extensions":{"seen":1}');
    expect(text).toContain(shown);
    expect(text.match(/"hasNext":false/g)).toHaveLength(1);
  });

  test('is named at the start if it has a hook of yoga’s HTTP handler', async () => {
    const plugins: readonly TeamPlugin[] = [
      { onExecute() {} },
      { onRequest() {}, onResponse() {} },
    ];
    await using app = await startTestApp({}, { plugins });
    const warned = app.logged.map((line) => JSON.parse(line)).filter(({ hook }) => hook);
    expect(warned).toMatchObject([
      { level: 'warn', hook: 'onRequest', plugin: 2 },
      { level: 'warn', hook: 'onResponse', plugin: 2 },
    ]);
  });
});
