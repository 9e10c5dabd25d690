import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { readPlugins } from '../../../src/app/resources.ts';
import { readConfig } from '../../../src/config.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { failedStart } from '../../support/failed-start.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, text);
  return path;
}

test.each([
  ['is missing', null, 'missing'],
  ['throws', "throw new Error('no licence');", 'throwing: no licence'],
  ['cannot be read', 'export default [', 'throwing: '],
  ['exports no list', 'export default { onExecute() {} };', 'exporting no list'],
  ['exports nothing', 'export const plugins = [];', 'exporting no list'],
  ['lists what is no plugin', 'export default [null];', 'plugin 1 of the list is none'],
])(
  'a file that %s stops the start, and is listed with what else cannot be used',
  async (_what, text, word) => {
    const path = text === null ? join(folder.path, 'none.mjs') : await fileOf('plugins.mjs', text);
    const problem = `PLUGINS="${path}": must be a file whose default export is a list of plugins (${word}`;
    await expect(startTestApp({ PLUGINS: path, ORDER_STORE: folder.path })).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [expect.stringContaining(problem), expect.stringMatching(/^ORDER_STORE=/)],
    });
  },
);

test('a file that waits for what never comes is not waited for', async () => {
  const plugins = await fileOf('never.mjs', 'await new Promise(() => {}); export default [];');
  const problem = 'throwing: it was not loaded within 100 ms';
  await expect(readPlugins({ plugins }, 100)).rejects.toThrow(problem);
});

test.each([
  'import { GraphQLError } from "graphql"; export const used = GraphQLError;',
  'module.exports = require("graphql");',
])('a plugin that brings another copy of graphql stops the start by its file: %s', async (text) => {
  const isModule = text.startsWith('import');
  const plugin = join(folder.path, 'node_modules/some-plugin');
  const graphql = join(folder.path, 'node_modules/graphql');
  for (const path of [plugin, graphql]) await mkdir(path, { recursive: true });
  const type = isModule ? 'module' : 'commonjs';
  await writeFile(join(plugin, 'package.json'), JSON.stringify({ type, main: 'index.js' }));
  await writeFile(join(plugin, 'index.js'), text);
  await writeFile(join(graphql, 'package.json'), JSON.stringify({ main: 'index.js' }));
  await writeFile(join(graphql, 'index.js'), 'exports.GraphQLError = class {};');
  const path = await fileOf(`plugins-${type}.mjs`, "import 'some-plugin'; export default [];");
  const { code, problems } = await failedStart({ PLUGINS: path });
  expect(code).toBe(78);
  expect(problems[1]).toContain(
    `another copy of graphql, which ${join(plugin, 'index.js')} imports`,
  );
  await rm(join(folder.path, 'node_modules'), { recursive: true });
});

const SERVES = 'export default [{ onExecute: () => ({ onExecuteDone() {} }) }];';
const COMPILED = `/*
import notes: none
*/
exports.__esModule = true; exports.default = [{ onExecute() {} }];`;
test.each([
  ['plugins.js', SERVES],
  ['plugins.ts', `import type { Plugin } from '@envelop/core'; ${SERVES}`],
  ['compiled.js', COMPILED],
  ['compiled.cjs', COMPILED],
])('a file %s in a folder of CommonJS is taken for what it is', async (name, text) => {
  await fileOf('package.json', '{ "type": "commonjs" }');
  const path = await fileOf(name, text);
  const environment = { GATEWAY_URL: 'http://127.0.0.1:9', ORDER_STORE: 'memory' };
  await using facade = await startFacadeProcess({ ...environment, PLUGINS: path });
  expect((await facade.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  await rm(join(folder.path, 'package.json'));
});

test('the hooks of a plugin that is an object of a class are its methods', async () => {
  const path = await fileOf(
    'class.mjs',
    `class Audit {
      onPluginInit() { this.begun = true; }
      onSchemaChange({ schema }) { if (this.begun) this.schema = schema; }
      onExecute() {}
    }
    export default [new Audit()];`,
  );
  await using app = await startTestApp({ PLUGINS: path });
  expect((await app.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('a file’s plugin that cannot begin stops the start by the variable, the file and its name', async () => {
  const path = await fileOf(
    'plugins.mjs',
    "export default [{ name: 'audit', onPluginInit() { throw new Error('no licence'); } }];",
  );
  const problem = `PLUGINS="${path}": must be a file whose default export is a list of plugins (plugin 1 of the list (audit) cannot begin: Error: no licence)`;
  await expect(startTestApp({ PLUGINS: path })).rejects.toMatchObject({ problems: [problem] });
});

test('the program runs the plugins of the file, beside those that it is given', async () => {
  const path = await fileOf(
    'plugins.mjs',
    'export default [{ onExecute: () => ({ onExecuteDone: ({ result, setResult }) => setResult({ ...result, extensions: { file: true } }) }) }];',
  );
  expect(readConfig({ PLUGINS: path }).plugins).toBe(path);
  const seen: unknown[] = [];
  const plugin: Plugin = {
    onExecute: () => ({
      onExecuteDone: ({ result }) => void seen.push((result as ExecutionResult).extensions),
    }),
  };
  await using app = await startTestApp({ PLUGINS: path }, { plugins: [plugin] });
  const { extensions } = await app.query('{ __typename }');
  expect(extensions).toEqual({ file: true, cost: 1, fields: 1, gateway: [] });
  expect(seen).toEqual([{ file: true }]);
});

const EXAMPLE = fileURLToPath(new URL('../../../examples/plugins/start.ts', import.meta.url));

test('a program that adds plugins drains on SIGTERM', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const environment = {
    GATEWAY_URL: gateway.url,
    ORDER_STORE: 'memory',
    ORDER_TIMEOUT_MS: '1000',
  };
  await using facade = await startFacadeProcess(environment, [], EXAMPLE);
  const token = gateway.token({ email: 'demo@example.com' });
  const order = facade.query(
    'mutation { placeOrder(input: { symbol: "TEST.SLOW", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "while-draining" }) { __typename } }',
    { token },
  );
  await eventually(() => expect(gateway.calls('openPosition')).toBe(1));
  facade.signal('SIGTERM');
  // The gateway takes longer than the order's deadline.
  expect((await order).data).toEqual({ placeOrder: { __typename: 'OrderOutcomeUnknown' } });
  expect(await facade.ended()).toBe(0);
  expect(facade.logged.some((line) => line.includes('graphql_envelop_request'))).toBe(true);
});

test('a program whose own end fails says so, and its process fails', async () => {
  const sources = new URL('../../../src', import.meta.url);
  const program = await fileOf(
    'main.mjs',
    `import { runApp } from '${sources}/app/run-app.ts';
    import { readConfig } from '${sources}/config.ts';
    await runApp(readConfig(process.env), { onClosed: () => Promise.reject(new Error('no disk')) });`,
  );
  const environment = { GATEWAY_URL: 'http://127.0.0.1:9', ORDER_STORE: 'memory' };
  await using facade = await startFacadeProcess(environment, [], program);
  facade.signal('SIGTERM');
  expect(await facade.ended()).toBe(1);
  expect(facade.logged.at(-1)).toMatch(/no disk.*the shutdown failed/);
});
