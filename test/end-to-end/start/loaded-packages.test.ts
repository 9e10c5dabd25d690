import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startFacadeProcess } from '../../support/facade-process.ts';

// A bundle contains the packages.
const sources = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const hook = fileURLToPath(new URL('../../support/loaded-packages.ts', import.meta.url));

test('packages that only a setting needs are not loaded without it', async () => {
  const off = {
    GATEWAY_URL: 'http://127.0.0.1:9',
    ORDER_STORE: 'memory',
    OTEL_SERVICE_NAME: 'graph',
  };
  const hooked = { ...off, NODE_OPTIONS: `--import=${hook}` };
  await using facade = await startFacadeProcess(hooked, [], sources);
  const loaded = () =>
    facade.logged.flatMap((line) => /^loaded package (\S+)$/.exec(line)?.[1] ?? []);
  const before = loaded();
  expect(before).toContain('undici');
  // prom-client needs the API package with or without tracing.
  const tracing = before.filter((name) => /^@opentelemetry\/(?!api$)/.test(name));
  expect(tracing).toEqual([]);
  const late = ['jose', 'ioredis'];
  expect(before.filter((name) => late.includes(name))).toEqual([]);
});
