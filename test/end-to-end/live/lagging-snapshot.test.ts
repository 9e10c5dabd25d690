import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type LaggingGateway, startLaggingGateway } from '../../support/lagging-gateway.ts';
import { CHANGES, type LiveClient, type Watcher, webSocketClient } from './watcher.ts';

const DEMO = { email: 'demo@example.com' };
// So long that no steady poll falls due during a test.
const POLL_MS = 8_000;

let sandbox: Sandbox;
let gateway: LaggingGateway;
let app: TestApp;
const clients: LiveClient[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ tickMs: 0, instruments: 10 });
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  gateway = await startLaggingGateway('700001');
  gateway.change(({ positions, number }) => positions.set('a', number));
  const environment = { GATEWAY_URL: gateway.url, POSITIONS_POLL_MS: String(POLL_MS) };
  app = await startTestApp(environment, { gateway: sandbox });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
  await app.close();
  await gateway[Symbol.asyncDispose]();
});

/** The first state was so long ago that an operation which lags by less than that tells of it. */
const open = (...ids: string[]) =>
  gateway.change(({ positions, number }) => {
    for (const id of ids) positions.set(id, number);
  });

async function watched(): Promise<Watcher> {
  const client = webSocketClient(app, sandbox.token(DEMO));
  clients.push(client);
  const watcher = client.watch({}, CHANGES);
  await eventually(() => watcher.last !== undefined);
  return watcher;
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

describe('a snapshot that is behind the list', () => {
  test('takes nothing from the live list, nor from the positions of a query', async () => {
    gateway.lagMs.getSession = 60_000;
    open('b');
    const watcher = await watched();
    expect(watcher.list.map(({ id }) => id)).toEqual(['a', 'b']);
    const token = sandbox.token(DEMO);
    const read = async (document: string) => (await app.query(document, { token })).data;
    const { session } = await read('{ session { positions { id } } }');
    expect(idsOf(session.positions)).toEqual([]);
    const { positions, positionTotals } = await read(
      '{ positions { id } positionTotals { count } }',
    );
    expect(idsOf(positions)).toEqual(['a', 'b']);
    expect(positionTotals.count).toBe(2);
    // It differs, and so a poll is due, which confirms the list.
    await eventually(() => gateway.calls.getOpenPositions > 1);
    open('c');
    await read('{ session(maxAge: 0) { positions { id } } }');
    await eventually(() => watcher.rows.size === 3);
    for (const { closed } of watcher.events) expect(closed).toEqual([]);
  });
});
