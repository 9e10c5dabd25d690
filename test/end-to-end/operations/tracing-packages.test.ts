import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';

const hook = fileURLToPath(new URL('../../support/loaded-packages.ts', import.meta.url));

async function packagesLoadedWith(environment: Readonly<Record<string, string>>) {
  await using sandbox = await startSandbox();
  await using facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    NODE_OPTIONS: `--import=${hook}`,
    ...environment,
  });
  return facade.logged.flatMap((line) => /^loaded package (\S+)$/.exec(line)?.[1] ?? []);
}

test('the packages of tracing are loaded where it is on, and only there', async () => {
  const [off, on] = await Promise.all([
    packagesLoadedWith({ OTEL_SERVICE_NAME: 'graph' }),
    packagesLoadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
  ]);
  expect(off).toContain('undici');
  // Its types of metrics are prom-client's, tracing or not.
  const others = off.filter((name) => name !== '@opentelemetry/api');
  expect(others.filter((name) => name.startsWith('@opentelemetry/'))).toEqual([]);
  expect(on).toContain('@opentelemetry/sdk-trace');
});
