import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { entryPoints, type PackedClient, packClient } from '../support/packed-client.ts';
import { runTool } from '../support/run-tool.ts';

const TYPED_APP = `
import { createClient, type Result, type TypedText, TradingGraphError, possibleTypes } from 'trading-graph-client';
import { type LinkContext, possibleTypes as apolloTypes, tradingGraphLink, typePolicies, writePositionChanges } from 'trading-graph-client/apollo';
import { ApolloClient, InMemoryCache } from '@apollo/client';
import { TradingGraphProvider, useCatalog, usePositions, useTicket } from 'trading-graph-client/react';
import { createClientWith } from 'trading-graph-client/core';
import { catalog } from 'trading-graph-client/catalog';
import { live } from 'trading-graph-client/live';
import { createElement } from 'react';
const client = createClient({ url: 'https://example.com/graphql', token: ({ force }) => (force ? null : 't') });
const BALANCE = '{ session { balance } }' as TypedText<{ session: { balance: number } | null }, Record<string, never>>;
export function Balance() {
  const { positions, status } = usePositions({ intervalMs: 500 });
  const { search } = useCatalog<'digits'>();
  const digits: number | undefined = search('AAPL')[0]?.digits;
  // @ts-expect-error The client keeps other fields.
  const leverage = search('AAPL')[0]?.leverage;
  const ticket = useTicket();
  if (ticket.status === 'unknown') console.log(ticket.outcome.sentAt);
  const onClick = () => void ticket.place({ symbol: 'AAPL', side: 'BUY', size: { units: 1 } });
  return createElement('button', { onClick }, status, positions.length, digits, leverage);
}
export const tree = createElement(TradingGraphProvider, { client }, createElement(Balance));
const lean = createClient({ url: 'https://example.com/graphql', token: () => 't', catalogFields: ['digits'] });
export const leanTree = createElement(TradingGraphProvider, { client: lean });
const ONE = 'query ($id: ID!) { instrument(id: $id) { id } }' as TypedText<{ instrument: { id: string } | null }, { id: string }>;
export const cache = new InMemoryCache({ possibleTypes: apolloTypes, typePolicies });
export const apollo = new ApolloClient({ link: tradingGraphLink(client), cache });
export const context: LinkContext = { anonymous: true };
writePositionChanges(cache, { snapshot: true, upserted: [{ id: '1' }], closed: [] });
const few = createClientWith({ url: 'https://example.com/graphql', token: () => 't' }, live({ positionFields: ['symbol'] }), catalog(['digits']));
few.positions(({ positions }) => console.log(positions[0]?.symbol, few.catalog.get('AAPL')?.digits));
// @ts-expect-error It has no orders.
few.orders;
export const fewTree = createElement(TradingGraphProvider, { client: few });
export const balance: Promise<Result<{ session: { balance: number } | null }>> = client.query(BALANCE);
export const one = client.query(ONE, { id: 'AAPL' });
// @ts-expect-error The operation has variables.
export const none = client.query(ONE);
export const stop: () => void = client.subscribe(ONE, () => ({ id: 'AAPL' }), {
  next: ({ data, errors }) => {
    const id: string | undefined = data?.instrument?.id;
    const [first]: readonly TradingGraphError[] = errors;
    console.log(id, first?.code, possibleTypes);
  },
  ended: () => {},
});
`;

/** What React Native declares of these globals. */
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

// Prints the balance, and whether the first list of positions came.
const RUN = `
import { createClient } from 'trading-graph-client';
export async function follow(url, token) {
  const client = createClient({ url, token: () => token });
  const { data, errors } = await client.query('{ session { balance } }');
  const first = await new Promise((resolve, reject) => {
    client.subscribe('subscription { positionChanges { snapshot } }', () => ({}), { next: resolve, ended: reject });
  });
  client.dispose();
  return JSON.stringify({ ...data, errors, ...first.data });
}
`;
const ANSWER = {
  session: { balance: expect.any(Number) },
  errors: [],
  positionChanges: { snapshot: true },
};

let packed: PackedClient;
let app: TestApp;

beforeAll(async () => {
  [packed, app] = await Promise.all([packClient(), startTestApp()]);
  packed.write('follow.js', RUN);
});
afterAll(async () => {
  packed?.[Symbol.dispose]();
  await app?.close();
});

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
      ...{ module: 'nodenext', target: 'es2022', lib: ['es2022'], types: [] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
      // The rest of graphql 17 has DOM's types, which graphql 16 and all that is used of either has not.
      paths: { graphql: ['./node_modules/graphql/language/ast.d.ts'] },
    };
    const path = packed.write(
      'tsconfig.bare.json',
      JSON.stringify({ compilerOptions, files: ['bare.ts'] }),
    );
    expect(await runTool('typescript/bin/tsc', ['-p', path])).toBe('');
  });

  test('runs in Node', async () => {
    packed.write(
      'run.js',
      "import { follow } from './follow.js';\nconsole.log(await follow(...process.argv.slice(2)));",
    );
    const printed = await packed.run('run.js', `${app.url}/graphql`, await app.signIn());
    expect(JSON.parse(printed)).toEqual(ANSWER);
  });
});

describe('what reads CommonJS alone', () => {
  const entries = entryPoints().filter((path) => !path.endsWith('.json'));

  async function printed(file: string, each: (entry: string) => string) {
    packed.write(file, entries.map((entry) => `console.log(${each(entry)});`).join('\n'));
    return (await packed.run(file)).trim().split('\n');
  }

  test('has all that ES modules export', async () => {
    const names = (text: string) => `Object.keys(${text}).sort().join()`;
    const exported = await printed('names.js', (entry) => names(`await import('${entry}')`));
    expect(exported).toHaveLength(entries.length);
    expect(await printed('names.cjs', (entry) => names(`require('${entry}')`))).toEqual(exported);
  });

  test('runs', async () => {
    const ending = "require('trading-graph-client')";
    const text = RUN.replace(/^import .* from .*$/m, `const { createClient } = ${ending};`);
    const run = 'follow(...process.argv.slice(2)).then(console.log);';
    packed.write('run.cjs', `${text.replace('export ', '')}\n${run}`);
    const printed = await packed.run('run.cjs', `${app.url}/graphql`, await app.signIn());
    expect(JSON.parse(printed)).toEqual(ANSWER);
  });
});

test('source maps have their sources with them', () => {
  const maps = globSync('dist/**/*.map', { cwd: packed.folder });
  const bare = maps.filter((map) => {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(packed.folder, map), 'utf8'));
    return sourcesContent?.length !== sources.length;
  });
  expect(maps.length).toBeGreaterThan(100);
  expect(bare).toEqual([]);
});

describeWithChromium('an app in a browser', (executablePath) => {
  test('runs', async () => {
    const bundle = await rolldown({ input: join(packed.app, 'follow.js'), platform: 'browser' });
    const { output } = await bundle.generate({ format: 'iife', name: 'app' });
    await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const page = await browser.newPage();
    await page.goto(`${app.url}/health/live`);
    await page.addScriptTag({ content: output[0].code });
    const args = [`${app.url}/graphql`, await app.signIn()];
    const printed = await page.evaluate(
      (given) =>
        (globalThis as unknown as { app: { follow(...a: string[]): Promise<string> } }).app.follow(
          ...given,
        ),
      args,
    );
    expect(JSON.parse(printed)).toEqual(ANSWER);
  });
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
