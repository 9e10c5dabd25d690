import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { beforeAll, expect, test, vi } from 'vitest';
// The app gets the WebSocket of `ws`, because Node's own WebSocket can reuse a connection that `fetch` has left open.
import { WebSocket } from 'ws';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { startedOnce } from '../../../test/support/started.ts';
import { bundleByMetro, bundlers } from '../support/bundlers.ts';
import { appOfAll, moduleEntries, packClient } from '../support/packed-client.ts';

// npm installs five hundred packages.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const CLIENT = '/node_modules/trading-graph-client/';

const APP = `
import { createClientWith } from 'trading-graph-client/core';
import { live } from 'trading-graph-client/live';
${appOfAll()}
globalThis.names = entries.map((entry) => Object.keys(entry).length);
globalThis.follow = async (url, token) => {
  const client = createClientWith({ url, token: () => token }, live());
  const { data } = await client.query('{ session { login } }');
  const status = await new Promise((resolve) => {
    client.positions(({ status }) => status === 'LIVE' && resolve(status));
  });
  client.dispose();
  return JSON.stringify({ data, status });
};
`;

interface Phone {
  readonly names: readonly number[];
  follow(url: string, token: string): Promise<string>;
}

const packed = startedOnce(packClient);
const app = sharedApp({ POSITIONS_POLL_MS: '100' });
beforeAll(bundlers);

test.each([
  ['0.81, which does not read `exports`', 'metro-oldest'],
  ['0.87, which reads `exports`', 'metro'],
] as const)('Metro %s bundles each entry, and each module once', async (_version, name) => {
  packed.write('index.js', APP);
  const modules = await bundleByMetro(name, packed, 'index.js');
  const own = modules.flatMap(({ path }) => path.split(CLIENT)[1] ?? []);
  const names = own.map((path) => path.replace('dist/cjs/', 'dist/'));
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((path, at) => names.indexOf(path) !== at)).toEqual([]);
  const code = modules.flatMap((module) => (module.path.includes(CLIENT) ? module.code : []));
  // Hermes supports no `import()`, and not all regular expressions.
  expect(code.join('\n')).not.toMatch(/\bimport\s*[.(]|\(\?<[=!]|\/[a-z]*v[a-z]*\.test\(/);
  const phone = createContext(hermesGlobals()) as Phone;
  runInContext(readFileSync(join(packed.app, 'index.js.bundle.js'), 'utf8'), phone);
  expect(phone.names.filter((count) => count === 0)).toEqual([]);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  expect(JSON.parse(await phone.follow(`${app.url}/graphql`, token))).toEqual({
    data: { session: { login: '700001' } },
    status: 'LIVE',
  });
});

test('a Jest test can load each entry of the installed client, and use its fake with fake timers', async () => {
  packed.write(
    'fake.test.js',
    `
${moduleEntries()
  .map((entry) => `require('${entry}');`)
  .join('\n')}
const { fakeClient } = require('trading-graph-client/testing');
test.each([{}, { legacyFakeTimers: true }])('with fake timers of %j', async (timers) => {
  jest.useFakeTimers(timers);
  const { client, market } = fakeClient({ positions: [{ id: '1', symbol: 'AAPL' }] });
  client.positions(() => {});
  await market.move('AAPL', 103);
  const { status, positions } = client.positions.state();
  expect([status, positions[0].priceCurrent]).toEqual(['LIVE', 103]);
  const placing = client.orders.ticket().place(
    { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } },
  );
  await market.accept('7');
  expect((await placing).status).toBe('accepted');
  expect(client.positions.state().positions).toHaveLength(2);
  client.dispose();
});
`,
  );
  // Files of packages are not transformed, as by the default settings of Jest and React Native.
  const options = JSON.stringify({ rootDir: packed.app, testEnvironment: 'node', transform: {} });
  const jest = join(await bundlers(), 'node_modules', 'jest', 'bin', 'jest.js');
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [jest, '--config', options, '--watchman=false', '--ci'],
    { cwd: packed.app, env: { ...process.env, NODE_ENV: 'test' } },
  );
  expect(stderr).toMatch(/Tests: +2 passed, 2 total/);
});

/** The globals of React Native on Hermes, for a new realm: no `crypto`, no page, no streams. */
function hermesGlobals(): object {
  const { setTimeout, clearTimeout, queueMicrotask, performance, console } = globalThis;
  const { AbortController, URLSearchParams } = globalThis;
  const timers = { setTimeout, clearTimeout, queueMicrotask, performance, console };
  return { ...timers, AbortController, URLSearchParams, WebSocket, fetch: fetchOfReactNative };
}

async function fetchOfReactNative(input: string, init?: RequestInit): Promise<object> {
  const answer = await fetch(input, init);
  const { ok, status, headers } = answer;
  return { ok, status, headers, text: () => answer.text(), json: () => answer.json() };
}
