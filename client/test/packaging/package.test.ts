import { execFile } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { describe, expect, test } from 'vitest';
import { startedOnce } from '../../../test/support/started.ts';
import { entryPoints, packClient } from '../support/packed-client.ts';
import { runTool } from '../support/run-tool.ts';

const TYPED_APP = `
import { createClient, type ErrorCode, type Result, type TypedText } from 'trading-graph-client';
import { TradingGraphProvider, useCatalog } from 'trading-graph-client/react';
import { createClientWith } from 'trading-graph-client/core';
import { catalog } from 'trading-graph-client/catalog';
import { live } from 'trading-graph-client/live';
import { createElement } from 'react';
const client = createClient({ url: 'https://example.com/graphql', token: ({ force }) => (force ? null : 't'), catalogFields: ['digits'] });
export function Digits() {
  const { search } = useCatalog<'digits'>();
  const digits: number | undefined = search('AAPL')[0]?.digits;
  // @ts-expect-error The client keeps other fields.
  const leverage = search('AAPL')[0]?.leverage;
  return createElement('p', null, digits, leverage);
}
export const tree = createElement(TradingGraphProvider, { client }, createElement(Digits));
const few = createClientWith({ url: 'https://example.com/graphql', token: () => 't' }, live({ positionFields: ['symbol'] }), catalog(['digits']));
few.positions(({ positions }) => console.log(positions?.[0]?.symbol, few.catalog.get('AAPL')?.digits));
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
// @ts-expect-error What waits for a price has one.
ticket.place({ ...any, kind: 'PENDING' });
// @ts-expect-error Nor may it be missing.
ticket.place({ ...any, kind: 'PENDING', price: lost });
`;

/** An app where these globals are declared as React Native does. */
const BARE_APP = `
import { createClient } from 'trading-graph-client';
declare class OwnSocket { constructor(url: string, protocols?: string[]) }
declare class OwnSignal {
  readonly aborted: boolean;
  addEventListener: (type: 'abort', listener: (this: OwnSignal, event: object) => void) => void;
  removeEventListener: (type: 'abort', listener: (this: OwnSignal, event: object) => void) => void;
}
declare const fetch: (input: string, init?: { method?: string }) => Promise<{ readonly ok: boolean }>;
declare const key: { readonly type: string; readonly algorithm: { readonly name: 'AES-GCM' } };
const client = createClient({
  url: 'https://example.com/graphql',
  token: () => 't',
  environment: { fetch, WebSocket: OwnSocket },
  offlineAccount: { key, login: null },
});
export const answer = client.query('{ session { id } }', undefined, { signal: new OwnSignal() });
`;

const root = join(import.meta.dirname, '..', '..', '..');
const packed = startedOnce(packClient);

describe('an app outside the workspace that has installed the package', () => {
  test.each([
    ['Bundler', 'esnext'],
    ['NodeNext', 'nodenext'],
  ])('is type-checked strictly, with the resolution of %s', async (moduleResolution, module) => {
    const imports = entryPoints().filter((path) => !path.endsWith('.json'));
    const text = imports.map((path) => `export * as x${imports.indexOf(path)} from '${path}';`);
    packed.write('app.ts', `${TYPED_APP}\n${text.join('\n')}\n`);
    const options = {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2022', 'dom', 'esnext.disposable'],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      // Declarations of a package that Apollo Client needs have imports that NodeNext does not resolve.
      skipLibCheck: module === 'nodenext',
    };
    const config = { compilerOptions: options, files: ['app.ts'] };
    const path = packed.write(`tsconfig.${module}.json`, JSON.stringify(config));
    expect(await runTool('typescript/bin/tsc', ['-p', path])).toBe('');
  });

  test('is type-checked where the compiler has no types of DOM or Node', async () => {
    // Apollo Client and the storage in files want theirs.
    const imports = entryPoints().filter((path) => !/apollo$|files$|json$/.test(path));
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
      // The rest of graphql 17 has DOM's types, which graphql 16 and all that is used of either has not.
      paths: { graphql: ['./node_modules/graphql/language/ast.d.ts'] },
    };
    const path = packed.write(
      'tsconfig.bare.json',
      JSON.stringify({ compilerOptions, files: ['bare.ts'] }),
    );
    expect(await runTool('typescript/bin/tsc', ['-p', path])).toBe('');
  });
});

test('what reads CommonJS alone has all that ES modules export', async () => {
  const entries = entryPoints().filter((path) => !path.endsWith('.json'));
  async function exportsBy(file: string, load: (entry: string) => string) {
    const lines = entries.map((entry) => `console.log(Object.keys(${load(entry)}).sort().join());`);
    const path = packed.write(file, lines.join('\n'));
    const { stdout } = await promisify(execFile)(process.execPath, [path]);
    return stdout.trim().split('\n');
  }
  const exported = await exportsBy('names.js', (entry) => `await import('${entry}')`);
  expect(exported).toHaveLength(entries.length);
  expect(await exportsBy('names.cjs', (entry) => `require('${entry}')`)).toEqual(exported);
});

test('the hooks are for the browser’s part of an app that is rendered on a server', () => {
  for (const file of ['react.js', 'cjs/react.js'])
    expect(readFileSync(join(packed.folder, 'dist', file), 'utf8')).toMatch(/^.use client.;\n/);
});

test('an error is one of its class, whichever of the two formats has made it', async () => {
  const path = packed.write(
    'errors.cjs',
    `const own = require('trading-graph-client');
    import('trading-graph-client').then((other) => {
      class Payment extends own.TradingGraphError {}
      const made = (Own) => new Own('no', { code: 'NETWORK', retryable: true });
      const isOne = (error) => [own.TradingGraphError, other.TradingGraphError, Payment].map((each) => error instanceof each);
      const all = [made(own.TradingGraphError), made(other.TradingGraphError), made(Payment), new Error('no'), null];
      console.log(JSON.stringify(all.map(isOne)));
    });`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [path]);
  expect(JSON.parse(stdout)).toEqual([
    [true, true, false],
    [true, true, false],
    [true, true, true],
    [false, false, false],
    [false, false, false],
  ]);
});

test('an app downloads few files, and its page links to none that are not there', () => {
  const files = globSync('**/*', { cwd: packed.folder, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(files.length).toBeLessThan(250);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(1_500_000);
  expect(readFileSync(join(packed.folder, 'README.md'), 'utf8')).not.toContain('](../');
});

test('publint finds nothing to mend', async () => {
  const { messages } = await publint({ pkgDir: packed.folder, strict: true, pack: false });
  expect(messages).toEqual([]);
});

test('the types are right, whether or not `exports` is read', async () => {
  const json = entryPoints().filter((path) => path.endsWith('.json'));
  const excluded = json.flatMap((path) => ['--exclude-entrypoints', path.replace(/^[^/]+\//, '')]);
  await runTool('@arethetypeswrong/cli/dist/index.js', [
    packed.tarball,
    '--profile',
    'strict',
    ...excluded,
  ]);
});

test.each(globSync('examples/*/package.json', { cwd: root }))(
  '%s installs this version',
  (path) => {
    const [example, client] = [path, 'client/package.json'].map((file) =>
      JSON.parse(readFileSync(join(root, file), 'utf8')),
    );
    const installed = example.dependencies['trading-graph-client'];
    expect(installed).toBe(`file:../../trading-graph-client-${client.version}.tgz`);
  },
);
