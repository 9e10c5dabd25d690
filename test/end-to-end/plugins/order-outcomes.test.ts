import type { Plugin } from '@envelop/core';
import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import type { OtherPlugin } from '../../../engine/index.ts';
import { startTestApp } from '../../support/app.ts';
import { type Sent, send } from '../../support/four-transports.ts';

type Run = (...args: unknown[]) => unknown;
type OnExecute = NonNullable<Plugin['onExecute']>;

const error = new GraphQLError('a redactor fails', { extensions: { code: 'FORBIDDEN' } });
const fail = (): never => {
  throw error;
};

/** Only what runs for the order fails: signing in must not. */
function executing(act: OnExecute): Plugin<{ isOrder?: boolean }> {
  return {
    onParse: ({ params, extendContext }) =>
      extendContext({ isOrder: /placeOrder|setValue/.test(String(params.source)) }),
    onExecute: (hook) => (hook.args.contextValue.isOrder ? act(hook) : undefined),
  };
}

function wrapping(wrap: (own: Run) => Run): Plugin {
  return {
    onSchemaChange({ schema }) {
      const fields = schema.getMutationType()?.getFields() ?? {};
      for (const name of ['placeOrder', 'setValue']) {
        const field = fields[name] as { resolve: Run };
        field.resolve = wrap(field.resolve);
      }
    },
  };
}

function ofHttp(hook: string): OtherPlugin {
  const fails = ({ result, serverContext, context }: Record<string, Record<string, unknown>>) => {
    const { params } = (context ?? serverContext) as { params?: { query?: string } };
    if (/placeOrder|setValue/.test(String(params?.query)) && (!result || result.data)) fail();
  };
  return { [hook]: fails };
}

const AFTER: Readonly<Record<string, OtherPlugin>> = {
  'onExecuteDone throws': executing(() => ({ onExecuteDone: fail })),
  'onExecuteDone rejects': executing(() => ({ onExecuteDone: async () => fail() })),
  'onExecuteDone puts an error in its place': executing(() => ({
    onExecuteDone: ({ setResult }) => setResult({ errors: [error] }),
  })),
  'onExecuteDone makes it nothing': executing(() => ({
    onExecuteDone: ({ setResult }) => setResult(7 as never),
  })),
  'the function that executes rejects afterwards': executing(({ executeFn, setExecuteFn }) =>
    setExecuteFn(async (args) => {
      await executeFn(args);
      fail();
    }),
  ),
  'the resolver is wrapped and rejects afterwards': wrapping((own) => async (...args) => {
    await own(...args);
    fail();
  }),
};

const AFTER_OVER_HTTP: Readonly<Record<string, OtherPlugin>> = {
  'onExecutionResult throws': ofHttp('onExecutionResult'),
  'onResultProcess throws': ofHttp('onResultProcess'),
  'onResponse throws': ofHttp('onResponse'),
};

const WRITING = ['POST', 'event stream', 'WebSocket'] as const;

const orderWith = (key: string) => `mutation {
  placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${key}" }) {
    __typename
    ... on OrderOutcome { idempotencyKey replayed }
    ... on OrderAccepted { orderId positions { symbol } }
  }
  setValue(input: { key: "theme", value: "dark" }) { __typename }
}`;

const codesOf = (errors: Sent['errors']) =>
  errors.map(({ path, extensions }) => [path?.join('.'), extensions.code]);

function expectOutcome({ data, errors, status }: Sent, key: string): void {
  expect(status ?? 200).toBe(200);
  expect(data).toEqual({
    placeOrder: {
      __typename: 'OrderAccepted',
      idempotencyKey: key,
      replayed: false,
      orderId: expect.any(String),
      positions: null,
    },
    setValue: null,
  });
  expect(codesOf(errors).sort()).toEqual([
    ['placeOrder.positions', 'INTERNAL'],
    ['setValue', 'OUTCOME_UNKNOWN'],
  ]);
}

test.each([...Object.entries(AFTER), ...Object.entries(AFTER_OVER_HTTP)])(
  'where %s, an accepted order is told by its own scalars',
  async (what, plugin) => {
    await using app = await startTestApp({}, { plugins: [plugin] });
    const token = await app.signIn();
    const transports = WRITING.slice(0, what in AFTER ? 3 : 2);
    for (const transport of transports) {
      expectOutcome(await send(app, transport, orderWith(transport), { token }), transport);
    }
    expect(app.sandbox.calls('openPosition')).toBe(transports.length);
    const told = app.logged.filter((line) => /a redactor fails|no result/.test(line));
    expect(told.length).toBeGreaterThanOrEqual(transports.length);
  },
);

test.each<[string, OtherPlugin]>([
  [
    'the function that executes is not waited for',
    executing(({ executeFn, setExecuteFn }) =>
      setExecuteFn(async (args) => {
        void executeFn(args);
        fail();
      }),
    ),
  ],
  [
    'a wrapped resolver is not waited for',
    wrapping((own) => async (...args) => {
      void own(...args);
      fail();
    }),
  ],
])('an order that is under way is not known where %s', async (_what, plugin) => {
  await using app = await startTestApp({}, { plugins: [plugin] });
  const token = await app.signIn();
  for (const transport of WRITING) {
    const { data, errors } = await send(app, transport, orderWith(transport), { token });
    expect(data).toEqual({ placeOrder: null, setValue: null });
    expect(codesOf(errors).sort()).toEqual([
      ['placeOrder', 'OUTCOME_UNKNOWN'],
      ['setValue', 'OUTCOME_UNKNOWN'],
    ]);
  }
});

test('an order that a plugin stopped was surely not sent', async () => {
  const plugins = [wrapping(() => fail), executing(() => undefined)];
  await using app = await startTestApp({}, { plugins });
  const token = await app.signIn();
  for (const transport of WRITING) {
    const { data, errors } = await send(app, transport, orderWith(transport), { token });
    expect(data).toEqual({ placeOrder: null, setValue: null });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  }
  expect(app.sandbox.calls('openPosition')).toBe(0);
});

test('a refusal of the gateway is what it was, though the resolver is wrapped', async () => {
  const plugin = wrapping(
    (own) =>
      async (...args) =>
        own(...args),
  );
  await using app = await startTestApp({}, { plugins: [plugin] });
  const { data, errors } = await send(app, 'POST', orderWith('a key'));
  expect(data).toEqual({ placeOrder: null, setValue: null });
  expect(errors.map(({ extensions }) => extensions.code)).toEqual([
    'UNAUTHENTICATED',
    'UNAUTHENTICATED',
  ]);
});

test('a read beside the outcome keeps the error that it had itself', async () => {
  const plugins = [AFTER['onExecuteDone throws'] as OtherPlugin];
  await using app = await startTestApp({}, { plugins });
  const token = await app.signIn();
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 403 });
  const { data, errors } = await send(app, 'POST', orderWith('a key'), { token });
  expect(data.placeOrder).toMatchObject({ __typename: 'OrderAccepted', positions: null });
  expect(codesOf(errors)).toContainEqual(['placeOrder.positions', 'FORBIDDEN']);
  expect(codesOf(errors)).toContainEqual(['setValue', 'OUTCOME_UNKNOWN']);
});
