import type { Plugin } from '@envelop/core';
import { defaultFieldResolver, type ExecutionResult, type GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { send, TRANSPORTS } from '../../support/four-transports.ts';
import { initializedSocket } from '../live/raw-socket.ts';

interface Extended {
  readonly role?: string | undefined;
  readonly caller: { readonly token: string | null };
}

type Resolve = (...args: unknown[]) => unknown;

/** Gives each token a role, and shows one field to users of a role otherwise. */
function byRole(typeName: string, fieldName: string, value: unknown) {
  const roles = new Map<string | null, string>();
  const plugin: Plugin<Extended> = {
    onContextBuilding: ({ context, extendContext }) =>
      extendContext({ role: roles.get((context as Extended).caller.token) }),
    onSchemaChange({ schema }) {
      const type = schema.getType(typeName) as GraphQLObjectType;
      const field = type.getFields()[fieldName] as { resolve?: Resolve };
      const own = (field.resolve ?? defaultFieldResolver) as Resolve;
      // It has no parameters of its own: nothing but the function itself says that it is another.
      field.resolve = (...args) => {
        const found = own(...args);
        return (args[2] as Extended).role === 'vip' ? value : found;
      };
    },
  };
  return { roles, plugin };
}

const LEVERAGE = 'query Leverage { instrument(id: "EURUSD") { leverage } }';

async function leverage(app: TestApp, transport: (typeof TRANSPORTS)[number], token: string) {
  return (await send(app, transport, LEVERAGE, { token })).data.instrument.leverage;
}

test.each(TRANSPORTS)(
  'a catalog field that a plugin wraps is shared with nobody by %s',
  async (transport) => {
    const { roles, plugin } = byRole('Instrument', 'leverage', 777);
    await using app = await startTestApp({}, { plugins: [plugin] });
    const [vip, other] = [await app.signIn(), await app.signIn('fresh@example.com')];
    roles.set(vip, 'vip');
    // Later runs are those of compiled code and of the cache.
    for (let run = 0; run < 4; run += 1) {
      expect(await leverage(app, transport, vip)).toBe(777);
      expect(await leverage(app, transport, other)).not.toBe(777);
    }
  },
);

test.each(['event stream', 'WebSocket'] as const)(
  'a live field that a plugin wraps is shared with nobody by %s',
  async (transport) => {
    const { roles, plugin } = byRole('Position', 'symbol', 'HIDDEN');
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });
    const [vip, other] = [await app.signIn(), await app.signIn()];
    roles.set(vip, 'vip');
    const live = 'subscription { positions { symbol } }';
    using first = await initializedSocket(app, other);
    first.subscribe('1', live);
    const own = await first.until('1', 'next');
    expect(own.payload.data.positions.length).toBeGreaterThan(0);
    expect(JSON.stringify(own.payload)).not.toContain('HIDDEN');
    const seen = await send(app, transport, live, { token: vip });
    expect(new Set(seen.data.positions.map(({ symbol }: { symbol: string }) => symbol))).toEqual(
      new Set(['HIDDEN']),
    );
    const again = await send(app, transport, live, { token: other });
    expect(again.text).not.toContain('HIDDEN');
  },
);

test('a field whose type a plugin resolves is not shared, nor are its results cached', async () => {
  let calls = 0;
  const plugin: Plugin = {
    onSchemaChange({ schema }) {
      const type = schema.getType('Instrument') as GraphQLObjectType;
      type.isTypeOf = () => {
        calls += 1;
        return true;
      };
    },
  };
  await using app = await startTestApp({}, { plugins: [plugin] });
  const token = await app.signIn();
  for (let run = 1; run <= 4; run += 1) {
    const { headers } = await send(app, 'GET', LEVERAGE, { token });
    expect(headers.get('etag')).toBeNull();
    expect(calls).toBe(run);
  }
});

test('a plugin may name what it adds to the context as it likes', async () => {
  const names = 'calls scope operation services caller requestId receipts own'.split(' ');
  const plugin: Plugin = {
    onContextBuilding: ({ extendContext }) =>
      extendContext(Object.fromEntries(names.map((name) => [name, 3]))),
  };
  await using app = await startTestApp({}, { plugins: [plugin] });
  const token = await app.signIn();
  for (const transport of TRANSPORTS) {
    const { data, errors } = await send(app, transport, '{ customerId }', { token });
    expect(errors).toEqual([]);
    expect(data.customerId).toBeTypeOf('string');
  }
});

test('a result that a plugin changes is what it was changed to, from the cache as well', async () => {
  const plugin: Plugin = {
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        const { instrument } = (result as ExecutionResult<{ instrument?: object }>).data ?? {};
        if (instrument)
          setResult({ ...result, data: { instrument: { ...instrument, leverage: null } } });
      },
    }),
  };
  await using app = await startTestApp({}, { plugins: [plugin] });
  const token = await app.signIn();
  const query = '{ instrument(id: "EURUSD") { id leverage } }';
  for (const transport of TRANSPORTS) {
    for (let run = 0; run < 3; run += 1) {
      const { data, text, headers } = await send(app, transport, query, { token });
      expect(data).toEqual({ instrument: { id: 'EURUSD', leverage: null } });
      expect(text).not.toMatch(/etag|bytes/);
      expect(headers.get('etag')).toBeNull();
    }
  }
});
