import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startFacadeProcess } from '../../support/facade-process.ts';

// The test starts the sources, because the bundled program contains its packages.
const sources = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
// A URL, because NODE_OPTIONS splits a path at its spaces.
const hook = new URL('../../support/loaded-packages.ts', import.meta.url).href;

test('packages that only a setting needs are not loaded without it', async () => {
  const environment = {
    GATEWAY_URL: 'http://127.0.0.1:9',
    ORDER_STORE: 'memory',
    OTEL_SERVICE_NAME: 'graph',
    NODE_OPTIONS: `--import=${hook}`,
  };
  await using facade = await startFacadeProcess(environment, [], sources);
  const loaded = facade.logged.flatMap((line) => /^loaded package (\S+)$/.exec(line)?.[1] ?? []);
  expect(loaded).toContain('undici');
  // prom-client needs the API package with or without tracing.
  const tracing = loaded.filter((name) => /^@opentelemetry\/(?!api$)/.test(name));
  expect(tracing).toEqual([]);
  const optional = ['jose', 'ioredis'];
  expect(loaded.filter((name) => optional.includes(name))).toEqual([]);
});
