import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from './support/own-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');

const folder = ownFolder();

/** The rule that forbids imports between layers. */
const IMPORT = 'noRestrictedImports';

/** Files, each with the rule of Biome that its imports break; null if all of them are allowed. */
const PLANTED: Readonly<Record<string, readonly [source: string, rule: string | null]>> = {
  'src/lib/value.ts': ["import '../store/redis.ts';", IMPORT],
  'src/lib/type.ts': ["import type { A } from '../gateway/operations/all.ts';", IMPORT],
  'src/lib/again.ts': ["export { a } from '../engine/all.ts';", IMPORT],
  'src/lib/late.ts': ["await import('../config.ts');", IMPORT],
  'src/lib/own.ts': ["import './limits/limit.ts';\nimport 'pino';", null],
  'src/lib/tracing/own.ts': ["import '@opentelemetry/api';", null],
  'src/lib/package.ts': ["import '@opentelemetry/api';", IMPORT],
  'src/engine/documents/facade.ts': ["import '../../schema/builder.ts';", IMPORT],
  'src/engine/trade.ts': ["import type { A } from '../gateway/client.ts';", IMPORT],
  'src/engine/http/page.ts': ["import '../../sandbox/page/demo-page.ts';", IMPORT],
  'src/engine/package.ts': ["import '@pothos/core';", IMPORT],
  'src/engine/create.ts': [
    "import './execution/pipeline.ts';\nimport './http/http-exchange.ts';",
    null,
  ],
  'src/engine/core/up.ts': ["import '../documents/documents.ts';", IMPORT],
  'src/engine/documents/compiler/up.ts': ["import '../documents.ts';", IMPORT],
  'src/engine/documents/compiler/own.ts': [
    "import './run.ts';\nimport '../../operation/meter.ts';",
    null,
  ],
  'src/engine/documents/up.ts': ["import '../admission/operation.ts';", IMPORT],
  'src/engine/admission/up.ts': ["import '../execution/execution.ts';", IMPORT],
  'src/engine/execution/up.ts': ["import '../requests/tokens.ts';", IMPORT],
  'src/engine/execution/pipeline.ts': ["import '../http/http-exchange.ts';", IMPORT],
  'src/engine/requests/up.ts': ["import '../websocket/x.ts';", IMPORT],
  'src/engine/websocket/up.ts': ["import '../http/http-exchange.ts';", IMPORT],
  'src/engine/http/up.ts': ["import '../create-engine.ts';", IMPORT],
  'src/engine/http/own.ts': [
    "import '../../lib/backoff.ts';\nimport '../websocket/x.ts';\nimport '../execution/pipeline.ts';\nimport '../operation/meter.ts';",
    null,
  ],
  'src/store/left.ts': ["import '../gateway/client.ts';", IMPORT],
  'src/store/engine.ts': ["import '../engine/execution/pipeline.ts';", IMPORT],
  'src/store/memory/package.ts': ["import 'undici';", IMPORT],
  'src/store/redis/own.ts': ["import 'ioredis';\nimport '../../lib/backoff.ts';", null],
  'src/gateway/left.ts': ["import '../domain/all.ts';", IMPORT],
  'src/gateway/engine.ts': ["import '../engine/execution/pipeline.ts';", IMPORT],
  'src/gateway/own.ts': ["import 'undici';\nimport '../store/redis.ts';", null],
  'src/domain/account/left.ts': ["import '../../schema/scope.ts';", IMPORT],
  'src/domain/engine.ts': ["import '../engine/execution/pipeline.ts';", IMPORT],
  'src/domain/storage.ts': ['export const a = localStorage.length;', 'noRestrictedGlobals'],
  'src/domain/blind.ts': ["import 'graphql-yoga';", IMPORT],
  'src/domain/redis.ts': ["import type { A } from '../store/redis/account-versions.ts';", IMPORT],
  'src/cli/redis.ts': ["await import('../store/redis/connection.ts');", IMPORT],
  'src/app/redis.ts': ["import '../store/sqlite/order-hold.ts';", IMPORT],
  'src/check/redis.ts': ["import '../store/memory/order-records.ts';", IMPORT],
  'src/domain/own.ts': ["import '../gateway/client.ts';", null],
  'src/schema/engine.ts': ["import '../engine/execution/pipeline.ts';", IMPORT],
  'src/schema/face.ts': ["import type { A } from '../engine/index.ts';", IMPORT],
  'src/schema/claim.ts': ["import * as account from '../lib/account.ts';", IMPORT],
  'src/schema/claims.ts': ["import { readClaims } from '../domain/auth/claims.ts';", IMPORT],
  'src/schema/own.ts': ["import '@pothos/core';\nimport '../lib/field-traits.ts';", null],
  'src/config/left.ts': ["import '../gateway/client.ts';", IMPORT],
  'src/app/left.ts': ["import '../cli/main.ts';", IMPORT],
  'src/app/sandbox.ts': ["await import('../sandbox/world.ts');", IMPORT],
  'src/app/own.ts': [
    "import './app-options.ts';\nawait import('../sandbox/start.ts');\nimport '../engine/index.ts';",
    null,
  ],
  'src/cli/orders.ts': ["await import('../check/check.ts');", IMPORT],
  'src/cli/commands.ts': ["import '../check/check.ts';", null],
  'src/check/left.ts': ["import type { Terminal } from '../cli/dispatch.ts';", IMPORT],
  'src/check/own.ts': ["import '../app.ts';", null],
  'src/app/inner.ts': ["import '../engine/execution/x.ts';", IMPORT],
  'src/app.ts': ["import { a } from './engine/x.ts';", IMPORT],
  'src/cli/inner.ts': ["await import('../engine/execution/x.ts');", IMPORT],
  'src/check/inner.ts': ["import type { A } from '../engine/documents/x.ts';", IMPORT],
  'test/cli/inner.ts': ["import '../../src/engine/documents/x.ts';", IMPORT],
  'test/cli/own.ts': ["import '../../src/engine/index.ts';", null],
  'test/engine/own.ts': ["import '../../src/engine/documents/x.ts';", null],
  'src/main.ts': ["import './sandbox/start.ts';", IMPORT],
  'src/sandbox/left.ts': ["import '../gateway/client.ts';", IMPORT],
  'src/sandbox/engine.ts': ["import '../engine/http/http-exchange.ts';", IMPORT],
  'src/sandbox/own.ts': ["import '../gateway/operations/all.ts';", null],
  'src/graphiql/server/facade.ts': ["import '../../app/metrics.ts';", IMPORT],
  'src/sandbox/page/own.ts': ["import '../../engine/index.ts';", null],
  'src/sandbox/page/inner.ts': ["import '../../engine/http/x.ts';", IMPORT],
  'src/check/package.ts': ["import 'undici';", IMPORT],
  'src/lib/default.ts': ['export default 1;', 'noDefaultExport'],
  'src/engine/environment.ts': ['export const a = process.env.A;', 'noProcessEnv'],
  'src/cli/environment.ts': ['export const a = process.env.A;', null],
  'src/lib/cycle-a.ts': [
    "import type { B } from './cycle-b.ts';\nexport type A = B;",
    'noImportCycles',
  ],
  'src/lib/cycle-b.ts': [
    "import type { A } from './cycle-a.ts';\nexport type B = A;",
    'noImportCycles',
  ],
};

test('the rules of the linter enforce the layers', async () => {
  const { vcs: _, ...rules } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  await writeFile(join(folder.path, 'biome.json'), JSON.stringify(rules));
  for (const [path, [source]] of Object.entries(PLANTED)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), `${source}\n`);
  }
  const { stdout } = spawnSync(
    process.execPath,
    [BIOME, 'lint', '--reporter=github', '--max-diagnostics=none', '.'],
    { cwd: folder.path, encoding: 'utf8' },
  );
  const ruleOfLayers =
    /^(noRestrictedImports|noRestrictedGlobals|noDefaultExport|noProcessEnv|noImportCycles)$/;
  const found = [...stdout.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+)/g)]
    .filter(([, rule]) => ruleOfLayers.test(rule ?? ''))
    .map(([, rule, file]) => `${relative(folder.path, file ?? '')}: ${rule}`);
  const expected = Object.entries(PLANTED).flatMap(([path, [, rule]]) =>
    rule === null ? [] : [`${path}: ${rule}`],
  );
  expect([...new Set(found)].sort()).toEqual(expected.sort());
});

test('every file keeps the three rules that the linter does not have', () => {
  const files = globSync('src/**/*.ts', {
    cwd: ROOT,
    exclude: ['src/page/**', 'src/graphiql/*.ts', '**/node_modules/**'],
  });
  expect(files.length).toBeGreaterThan(100);
  const layer =
    /^src\/(app|check|cli|config|domain|engine|gateway|graphiql|lib|sandbox|schema|store)\/|^src\/(app|config|main|plugins)\.ts$/;
  expect(files.filter((file) => !layer.test(file))).toEqual([]);
  const filesWith = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8')));
  // The linter does not see an inline type such as `: import('./x.ts').Type`.
  expect(filesWith(/[:=<|&(,] *import\('\.[^']*'\)\.[A-Z]/)).toEqual([]);
  // A comment that disables a check must state a reason of at least two words.
  const withoutReason = /@ts-nocheck|(@ts-expect-error|biome-ignore)(?!.*[:\s]\s*\S+ \S+)/;
  expect(filesWith(withoutReason)).toEqual([]);
});

test('the engine imports itself, the library and packages alone', () => {
  const isAllowed = (path: string) => /^src\/(engine|lib)\//.test(path);
  const found = globSync('src/engine/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const imported = [...source.matchAll(/(?:from|import)\(? ?'(\.[^']+)'/g)];
    return imported
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => !isAllowed(path))
      .map((path) => `${file}: ${path}`);
  });
  expect(found).toEqual([]);
});
