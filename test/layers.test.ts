import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findViolations } from './support/layer-rules.ts';

const ROOT = join(import.meta.dirname, '..');

function readSources(): Map<string, string> {
  const paths = globSync('{src,check}/**/*.ts', { cwd: ROOT });
  return new Map(
    paths.map((path) => [
      path
        .split(sep)
        .join('/')
        .replace(/^src\//, ''),
      readFileSync(join(ROOT, path), 'utf8'),
    ]),
  );
}

test('the source keeps to its layers', () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(10);
  expect(findViolations(sources)).toEqual([]);
});

describe('the check', () => {
  const clean = {
    'main.ts': "import { readConfig } from './config.ts';\nimport { startApp } from './app.ts';",
    'config.ts': "import { kinds } from './config/kinds.ts';",
    'config/kinds.ts': "import { isIP } from 'node:net';",
    'app.ts':
      "import type { Config } from './config.ts';\nimport { sandbox } from './sandbox/start.ts';",
    'app/resources.ts':
      "import type { Config } from '../config.ts';\nimport { run } from '../server/http.ts';",
    'app/sandbox.ts': "import { sandbox } from '../sandbox/start.ts';",
    'cli/sandbox.ts': "const { sandbox } = await import('../sandbox/start.ts');",
    'cli/commands.ts': "const { check } = await import('../../check/src/check.ts');",
    'check/src/check.ts': "import '../../src/config.ts';\nimport '../../src/gateway/client.ts';",
    'server/http.ts':
      "import { graph } from '../graph.ts';\nimport { createYoga } from 'graphql-yoga';",
    'graph.ts':
      "import { useLimit } from './plugins/use-limit.ts';\nimport { schema } from './schema/builder.ts';",
    'plugins/use-limit.ts': "import '../lib/backoff.ts';\nimport '../schema/public-error.ts';",
    'schema/public-error.ts': "import { GraphQLError } from 'graphql';",
    'schema/builder.ts':
      "import SchemaBuilder from '@pothos/core';\nimport '../domain/catalog.ts';",
    'domain/catalog.ts': "export { type Wire } from '../gateway/wire/all.ts';",
    'gateway/client.ts':
      "import { request } from 'undici';\nimport { backoff } from '../lib/backoff.ts';",
    'gateway/operations.ts': 'export const OPERATIONS = [];',
    'gateway/wire/all.ts':
      '// any comment may say any thing, and export default\nexport type Wire = unknown;',
    'store/redis.ts': "import { Redis } from 'ioredis';",
    'sandbox/start.ts':
      "import type { Wire } from '../gateway/wire/all.ts';\nimport '../gateway/operations.ts';",
    'lib/backoff.ts':
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text to be checked
      "export const any = `any ${'import x from \\'undici\\''}`;\nconst one = Promise.any([]);",
  };

  const check = (changed: Readonly<Record<string, string>>) =>
    findViolations(new Map(Object.entries({ ...clean, ...changed })));

  test('lets clean files pass', () => {
    expect(check({})).toEqual([]);
  });

  test.each([
    ['lib/backoff.ts', "import { Wire } from '../gateway/wire/all.ts';", 'to the left'],
    ['lib/backoff.ts', "import type { Wire } from '../gateway/wire/all.ts';", 'to the left'],
    ['lib/backoff.ts', "import {\n  Wire,\n} from '../gateway/wire/all.ts';", 'to the left'],
    ['lib/backoff.ts', "export { x } from '../store/redis.ts';", 'to the left'],
    ['lib/backoff.ts', "const x = await import('../store/redis.ts');", 'to the left'],
    ['lib/backoff.ts', "type X = import('../store/redis.ts').X;", 'to the left'],
    ['gateway/client.ts', "import '../domain/catalog.ts';", 'to the left'],
    ['app.ts', "import '../check/src/check.ts';", 'to the left'],
    ['schema/builder.ts', "import '../app.ts';", 'to the left'],
    ['app.ts', "import './main.ts';", 'to the left'],
    ['server/http.ts', "import '../app/resources.ts';", 'to the left'],
    ['lib/backoff.ts', "import '../config.ts';", 'receive values'],
    ['server/http.ts', "import { kinds } from '../config/kinds.ts';", 'receive values'],
    ['config.ts', "import '../src/gateway/client.ts';", 'no such file'],
    ['config.ts', "import './gateway/client.ts';", 'only lib'],
    ['sandbox/start.ts', "import '../gateway/client.ts';", 'only lib and the wire'],
    ['sandbox/start.ts', "import '../domain/catalog.ts';", 'only lib and the wire'],
    ['server/http.ts', "import '../sandbox/start.ts';", 'for app and cli'],
    ['main.ts', "import './sandbox/start.ts';", 'for app and cli'],
    ['domain/catalog.ts', 'import { fetch } from "undici";', 'belongs to gateway/'],
    ['server/http.ts', "import SchemaBuilder from '@pothos/core';", 'belongs to schema/'],
    ['domain/catalog.ts', "import type { Redis } from 'ioredis';", 'belongs to store/'],
    ['server/http.ts', "import { trace } from '@opentelemetry/api';", 'belongs to lib/tracing/'],
    ['domain/catalog.ts', "import { GraphQLError } from 'graphql';", 'no GraphQL'],
    ['plugins/use-limit.ts', "import '../schema/builder.ts';", 'plugins see only'],
    [
      'plugins/use-limit.ts',
      "import type { Wire } from '../domain/catalog.ts';",
      'plugins see only',
    ],
    ['schema/builder.ts', "import '../plugins/use-limit.ts';", 'beside the plugins'],
    ['plugins/use-limit.ts', "import '../graph.ts';", 'plugins see only'],
    ['helpers/text.ts', 'export const x = 1;', 'in no layer'],
    ['lib/backoff.ts', 'export function x(y: any) {}', 'uses any'],
    ['lib/backoff.ts', 'const x = y as any;', 'uses any'],
    ['lib/backoff.ts', 'const x: Promise<any> = y;', 'uses any'],
    ['lib/backoff.ts', 'const x: any[] = [];', 'uses any'],
    ['lib/backoff.ts', 'const a = /["\'`]/.test(b) ? 1 : (c as any);', 'uses any'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text to be checked
    ['lib/backoff.ts', 'const a = `${`${{ b: 1 }}`}`; const x: any = 1;', 'uses any'],
    ['lib/backoff.ts', 'export default function x() {}', 'default export'],
    ['lib/backoff.ts', 'const x = 1;\nexport { x as default };', 'default export'],
    ['lib/backoff.ts', '// @ts-ignore\nconst x = y;', 'switches the type check off'],
    ['lib/backoff.ts', '// @ts-expect-error\nconst x = y;', 'without a reason'],
    ['lib/backoff.ts', 'const x = process.env.X;', 'reads the environment'],
  ])('catches in %s: %s', (path, source, problem) => {
    expect(check({ [path]: source })).toContainEqual(expect.stringContaining(problem));
  });

  test('catches a cycle of any length, of types as well', () => {
    const found = check({
      'lib/a.ts': "import type { B } from './b.ts';",
      'lib/b.ts': "import { c } from './c.ts';",
      'lib/c.ts': "export * from './a.ts';",
    });
    expect(found).toEqual(['import cycle: lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts']);
  });
});
