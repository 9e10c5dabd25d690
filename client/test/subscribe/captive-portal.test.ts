import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import { startCore } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts';
import { CHANGES, Events } from '../support/events.ts';

const KEY = 'trading-graph:line';
// It is tried again at once, however often it has failed.
const random = () => 0;

let app: TestApp;
let proxy: CutProxy;

beforeEach(async () => {
  app = await startTestApp({ POSITIONS_POLL_MS: '100' });
  proxy = await startCutProxy(app.url);
});
afterEach(async () => {
  await proxy.close();
  await app.close();
});

test.each([
  ['a WebSocket', {}],
  ['an event stream', { WebSocket: null }],
])('the page of a portal ends no subscription over %s', async (_name, platform) => {
  const storage = memoryStorage();
  const environment = countedEnvironment({ ...platform, random });
  using core = startCore(app, { url: `${proxy.url}/graphql`, storage, environment });
  const events = new Events();
  core.subscribe(CHANGES, events.variables, events);
  await eventually(() => events.results.length > 0);
  proxy.showPortal();
  const lines = proxy.accepted;
  // Three handshakes, and what is tried beside them.
  await eventually(() => proxy.accepted > lines + 8);
  expect(events.end).toBeUndefined();
  await proxy.heal();
  await eventually(() => events.results.length > 1);
  expect(await storage.get(KEY)).toBeNull();
});

test('it does not make the client forget that event streams won', async () => {
  const storage = memoryStorage();
  const remembered = `stream ${Date.now()}`;
  await storage.set(KEY, remembered);
  proxy.showPortal();
  const environment = countedEnvironment({ random });
  using core = startCore(app, { url: `${proxy.url}/graphql`, storage, environment });
  const events = new Events();
  core.subscribe(CHANGES, events.variables, events);
  await eventually(() => proxy.accepted > 8);
  expect(await storage.get(KEY)).toBe(remembered);
  await proxy.heal();
  await eventually(() => events.results.length > 0);
});
