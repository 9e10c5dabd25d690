import { basename, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { inFull } from '../../test/support/in-full.ts';
import { startedOnce } from '../../test/support/started.ts';
import { bundlers } from './support/bundlers.ts';
import { entryPoints, packClient } from './support/packed-client.ts';
import { runTool } from './support/run-tool.ts';

// npm installs five hundred packages.
vi.setConfig({ testTimeout: 600_000 });

/** The oldest compiler that is supported; the project's own is the newest. */
const OLDEST = 'typescript-5.9';

const TYPED_APP = `
import { createClient, type ErrorCode, type Result, type TypedText } from 'trading-graph-client';
import { TradingGraphProvider, usePositions } from 'trading-graph-client/react';
import { createClientWith } from 'trading-graph-client/core';
import { live } from 'trading-graph-client/live';
import { createElement } from 'react';
const client = createClient({ url: 'https://example.com/graphql', token: ({ force }) => (force ? null : 't'), positionFields: ['profit'] });
export function Profit() {
  const { positions } = usePositions<{ position: 'profit'; order: never; session: never }>();
  const profit: number | null | undefined = positions?.[0]?.profit;
  // @ts-expect-error The client follows other fields.
  const symbol = positions?.[0]?.symbol;
  return createElement('p', null, profit, symbol);
}
export const tree = createElement(TradingGraphProvider, { client }, createElement(Profit));
const few = createClientWith({ url: 'https://example.com/graphql', token: () => 't' }, live({ positionFields: ['symbol'] }));
few.positions(({ positions }) => console.log(positions?.[0]?.symbol));
// @ts-expect-error It has no orders.
few.orders;
export const fewTree = createElement(TradingGraphProvider, { client: few });
const ONE = 'query ($id: ID!) { instrument(id: $id) { id } }' as TypedText<{ instrument: { id: string } | null }, { id: string }>;
export const one: Promise<Result<{ instrument: { id: string } | null }>> = client.query(ONE, { id: 'AAPL' });
// @ts-expect-error The operation has variables.
export const none = client.query(ONE);
const HOME = '{ session { id } }' as TypedText<{ session: { id: string } | null }>;
export const home: Promise<Result<{ session: { id: string } | null }>> = client.query(HOME);
const code: ErrorCode | undefined = 'a code of an extension';
if (code === 'RATE_LIMITED') console.log(code);
const any = { symbol: 'AAPL', side: 'BUY', size: { units: 1 } } as const;
const ticket = client.orders.ticket();
export const orders = [ticket.place({ ...any, kind: 'MARKET' }), ticket.place({ ...any, kind: 'PENDING', price: 1 })];
declare const lost: number | undefined;
// @ts-expect-error It has no kind.
ticket.place({ ...any, price: lost });
// @ts-expect-error A pending order needs a price.
ticket.place({ ...any, kind: 'PENDING' });
// @ts-expect-error The price may be undefined.
ticket.place({ ...any, kind: 'PENDING', price: lost });
`;

/** An app whose globals are declared without the types of DOM, as on React Native. */
const BARE_APP = `
import { createClient } from 'trading-graph-client';
declare class OwnSocket { constructor(url: string, protocols?: string[]) }
declare class OwnSignal {
  readonly aborted: boolean;
  addEventListener: (type: 'abort', listener: (this: OwnSignal, event: object) => void) => void;
  removeEventListener: (type: 'abort', listener: (this: OwnSignal, event: object) => void) => void;
}
declare const fetch: (input: string, init?: { method?: string }) => Promise<{ readonly ok: boolean }>;
const client = createClient({
  url: 'https://example.com/graphql',
  token: () => 't',
  environment: { fetch, WebSocket: OwnSocket },
});
declare const maybe: { signal?: OwnSignal; interval: number | undefined; key: string | undefined };
export const live = client.positions(() => {}, { intervalMs: maybe.interval });
export const ticket = client.orders.ticket({ idempotencyKey: maybe.key });
export const other = createClient({ url: 'https://example.com/graphql', token: () => 't', storage: undefined, onSignedOut: undefined });
export const asked = other.query('{ session { id } }', undefined, { signal: maybe.signal, timeoutMs: maybe.interval });
export const answer = client.query('{ session { id } }', undefined, { signal: new OwnSignal() });
`;

const packed = startedOnce(packClient);

describe('an app outside the workspace that has installed the package', () => {
  const compilers = inFull([OLDEST, 'typescript'], ['typescript']);
  test.each(
    compilers.flatMap((compiler) => [
      { compiler, module: 'esnext', moduleResolution: 'bundler' },
      { compiler, module: 'nodenext', moduleResolution: 'nodenext' },
    ]),
  )('is type-checked strictly by $compiler, with the resolution $moduleResolution', async (own) => {
    const { compiler, ...resolution } = own;
    // With this resolution Apollo's declarations, or those of its dependencies, have errors themselves.
    const excluded = resolution.module === 'nodenext' ? /apollo$|json$/ : /json$/;
    const imports = entryPoints().filter((path) => !excluded.test(path));
    const text = imports.map((path, at) => `export * as x${at} from '${path}';`);
    packed.write('app.ts', `${TYPED_APP}\n${text.join('\n')}\n`);
    const compilerOptions = {
      ...resolution,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      skipLibCheck: false,
    };
    const path = packed.write(
      `tsconfig.${resolution.module}.json`,
      JSON.stringify({ compilerOptions, files: ['app.ts'] }),
    );
    const installed =
      compiler === OLDEST ? join(basename(await bundlers()), 'node_modules', compiler) : compiler;
    expect(await runTool(join(installed, 'bin', 'tsc'), ['-p', path])).toBe('');
  });

  test('is type-checked even without the types of DOM and Node', async () => {
    // Apollo Client needs the types of DOM.
    const imports = entryPoints().filter((path) => !/apollo$|json$/.test(path));
    const text = imports.map((path, at) => `export * as x${at} from '${path}';`);
    packed.write('bare.ts', `${BARE_APP}\n${text.join('\n')}\n`);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      // Uses one file of graphql 17, because others need the types of DOM.
      paths: { graphql: ['./node_modules/graphql/language/ast.d.ts'] },
    };
    const path = packed.write(
      'tsconfig.bare.json',
      JSON.stringify({ compilerOptions, files: ['bare.ts'] }),
    );
    expect(await runTool('typescript/bin/tsc', ['-p', path])).toBe('');
  });
});
