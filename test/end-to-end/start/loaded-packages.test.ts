import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';

// A bundle has the packages within it.
const sources = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const hook = fileURLToPath(new URL('../../support/loaded-packages.ts', import.meta.url));

const BARE = 'http://127.0.0.1:9';
const OFF = { GATEWAY_URL: BARE, ORDER_STORE: 'memory', OTEL_SERVICE_NAME: 'graph' };

async function start(environment: Environment & { readonly GATEWAY_URL: string }) {
  const hooked = { ...environment, NODE_OPTIONS: `--import=${hook}` };
  const facade = await startFacadeProcess(hooked, [], sources);
  const loaded = () =>
    facade.logged.flatMap((line) => /^loaded package (\S+)$/.exec(line)?.[1] ?? []);
  return Object.assign(facade, { loaded });
}

test('yoga is loaded with its first request, and what a setting needs not at all without it', async () => {
  await using facade = await start(OFF);
  const before = facade.loaded();
  expect(before).toContain('undici');
  // Its types of metrics are prom-client's, tracing or not.
  const tracing = before.filter((name) => /^@opentelemetry\/(?!api$)/.test(name));
  expect(tracing).toEqual([]);
  const late = ['graphql-yoga', 'jose', 'ioredis', 'marked'];
  expect(before.filter((name) => late.includes(name))).toEqual([]);
  for (const accept of ['application/json', 'text/event-stream']) {
    const headers = { accept };
    const { status } = await fetch(`${facade.url}/graphql?query={__typename}`, { headers });
    expect(status).toBe(200);
  }
  expect(facade.loaded()).not.toContain('graphql-yoga');
  const other = await fetch(`${facade.url}/graphql`, { method: 'PUT' });
  expect(other.status).toBe(405);
  await eventually(() => facade.loaded().includes('graphql-yoga'));
});

test('the packages of tracing and of verified tokens are loaded where they are configured', async () => {
  await using facade = await start({
    ...OFF,
    OTEL_EXPORTER_OTLP_ENDPOINT: BARE,
    JWT_SECRET: 'a secret of thirty-two bytes or more',
  });
  const loaded = facade.loaded();
  expect(loaded).toContain('@opentelemetry/sdk-trace');
  expect(loaded).toContain('jose');
});
