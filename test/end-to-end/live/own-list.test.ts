import { expect, test } from 'vitest';
import { accountRead } from '../../../src/gateway/define-operation.ts';
import * as f from '../../../src/gateway/fields.ts';
import { builder } from '../../../src/schema/builder.ts';
import { liveList } from '../../../src/schema/live.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { openClient } from '../../gateway/open-client.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { initializedSocket } from './raw-socket.ts';
import { type Row, webSocketClient } from './watcher.ts';

const ALERT = f.table('PriceAlert', { id: f.vital(f.filled), symbol: f.text });
const ALERTS = f.table('PriceAlerts', { alerts: f.vital(f.wholeList(ALERT)) });

const getAlerts = accountRead({
  name: 'getAlerts',
  number: 16,
  area: 'rest',
  calls: { list: { method: 'GET', path: '/alerts/{account}', answer: ALERTS.shape } },
  runFor: async (calls, account) =>
    calls.read(await calls.send('list', { path: { account } }), ALERTS).alerts,
});

/** The other service. Each test changes its answer. */
let respond = () => answer(200, { alerts: [] });
const show = (...alerts: readonly Pick<Row, 'id' | 'symbol'>[]) => {
  respond = () => answer(200, { alerts });
};
const alerts = await startScriptedGateway((socket) => socket.write(respond()));
const { client } = openClient(alerts.url);

liveList('alertChanges', {
  type: 'AlertChanges',
  description: 'The price alerts.',
  row: builder.objectRef<f.ValueOf<typeof ALERT.fields>>('PriceAlert').implement({
    fields: (t) => ({ id: t.exposeID('id'), symbol: t.exposeString('symbol', { nullable: true }) }),
  }),
  read: (_services, account, caller) => client.readFor(account, caller, getAlerts),
});
// A subscription of one's own, which knows nothing of tokens.
builder.subscriptionField('beats', (t) =>
  t.int({
    nullable: false,
    async *subscribe() {
      yield 1;
      await new Promise(() => {});
    },
    resolve: (beat: number) => beat,
  }),
);
const schema = buildSchema();

const DEMO = { email: 'demo@example.com' };
const ALERT_CHANGES = `subscription ($after: String) {
  alertChanges(after: $after) { cursor snapshot upserted { id symbol } opened closed status asOf }
}`;
const opened = closeAfterEachTest();
const start = (settings = {}) =>
  startTestApp({ POSITIONS_POLL_MS: '100', ...settings }, { schema });

test('a live list of another service shares its polls, resumes by cursor, and says DELAYED and LIVE', async () => {
  await using app = await start();
  show({ id: '1', symbol: 'A' });
  const devices = [1, 2, 3].map(() =>
    opened(webSocketClient(app, app.sandbox.token(DEMO))).watch({}, ALERT_CHANGES),
  );
  const [device] = devices;
  await eventually(() => devices.every(({ list }) => list.length === 1));
  show({ id: '1', symbol: 'B' }, { id: '2', symbol: 'C' });
  await eventually(() => devices.every(({ list }) => list.length === 2));
  expect(device?.last).toMatchObject({ snapshot: false, opened: ['2'], closed: [] });
  const after = device?.last?.cursor ?? '';
  show({ id: '2', symbol: 'C' });
  await eventually(() => devices.every(({ list }) => list.length === 1));
  const late = opened(webSocketClient(app, app.sandbox.token(DEMO))).watch(
    { after },
    ALERT_CHANGES,
  );
  await eventually(() => expect(late.events[0]).toMatchObject({ snapshot: false, closed: ['1'] }));
  respond = () => answer(503, {});
  await eventually(() => expect(device?.last?.status).toBe('DELAYED'));
  show({ id: '2', symbol: 'C' });
  await eventually(() => expect(device?.last?.status).toBe('LIVE'));
  // One poll for four devices, at most each 50 ms.
  const [{ asOf: firstAsOf }, lastAsOf] = [device?.events[0] ?? { asOf: '' }, device?.last?.asOf];
  const ms = Date.parse(lastAsOf ?? '') - Date.parse(firstAsOf);
  expect(alerts.requests.length).toBeLessThan(3 + ms / 50);
  // The polls of another service prove no token, and cost the gateway nothing but the proofs of four tokens.
  expect(app.sandbox.calls()).toBe(4);
});

test('a live list of another service goes on while its proofs are renewed, and ends with its token', async () => {
  await using app = await start({ AUTH_PROOF_SECONDS: '1' });
  show({ id: '1', symbol: 'A' });
  using raw = await initializedSocket(app, app.sandbox.token({ ...DEMO, expiresInSeconds: 6 }));
  await raw.watch('a', ALERT_CHANGES);
  await eventually(() => expect(app.sandbox.calls('getSession')).toBeGreaterThan(2));
  expect(raw.closed).toBeNull();
  expect(await raw.untilClosed()).toEqual({ code: 4403, reason: 'UNAUTHENTICATED' });
  const { length } = alerts.requests;
  const token = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(60) });
  using forged = await initializedSocket(app, token);
  forged.subscribe('a', ALERT_CHANGES);
  expect(await forged.untilClosed()).toEqual({ code: 4403, reason: 'UNAUTHENTICATED' });
  expect(alerts.requests).toHaveLength(length);
});

test.each(['expires', 'is refused to another operation'])(
  'any subscription ends when its token %s',
  async (end) => {
    await using app = await start();
    const expires = end === 'expires';
    const token = app.sandbox.token({ ...DEMO, ...(expires && { expiresInSeconds: 3 }) });
    using innocent = await initializedSocket(app, app.sandbox.token(DEMO));
    await innocent.watch('a', 'subscription { beats }');
    using raw = await initializedSocket(app, token);
    await raw.watch('a', 'subscription { beats }');
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    };
    const body = JSON.stringify({ query: 'subscription { beats }' });
    const stream = await fetch(`${app.url}/graphql`, { method: 'POST', headers, body });
    if (!expires) {
      app.sandbox.revoke({ token });
      await app.query('{ customerId }', { token });
    }
    const events = await stream.text();
    expect(events).toMatch(
      /event: next\n[^\n]*"beats":1.*event: next\n[^\n]*"code":"UNAUTHENTICATED".*event: complete/s,
    );
    expect(await raw.untilClosed()).toEqual({ code: 4403, reason: 'UNAUTHENTICATED' });
    await innocent.watch('b', '{ __typename }');
    expect(innocent.messagesOf('a')).toHaveLength(1);
  },
);
