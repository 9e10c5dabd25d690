import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../../sandbox/start.ts';
import { postQuery } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { initializedSocket, type RawSocket } from '../live/raw-socket.ts';
import { moved, seriesValue } from '../operations/scraped.ts';

const USERS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
/** A subscription holds its variables, of the size of a body here, for as long as it lasts. */
const LARGE = 'x'.repeat(250_000);
const CHANGES = 'subscription ($after: String) { positionChanges(after: $after) { cursor } }';
// Its screen costs more than a query may while memory is short.
const ORDER = `mutation { placeOrder(input: { symbol: "TEST.REJECT", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "1" }) {
  __typename ... on OrderAccepted { ${['a', 'b', 'c'].map((name) => `${name}: positions { id symbol side units profit priceOpen priceCurrent instrument { id name } }`).join(' ')} } } }`;
const COSTLY = '{ instruments(first: 500) { nodes { id name description } } }';

// Each leaves 96 MB to what lives for long.
test.each(['--max-old-space-size=96', '--max-heap-size=288 --max-semi-space-size=64'])(
  'memory that runs short under %s refuses what would hold more of it, and ends neither the process nor the rest',
  async (flags) => {
    await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
    await using facade = await startFacadeProcess({
      GATEWAY_URL: gateway.url,
      ORDER_STORE: 'memory',
      NODE_OPTIONS: flags,
      RATE_LIMIT_PER_MINUTE: '100000',
    });
    const ask = (document: string, token: string | null = null) =>
      postQuery(`${facade.url}/graphql`, document, { token });
    const readiness = async () => (await fetch(`${facade.adminUrl}/health/ready`)).json();
    const token = gateway.token({ email: USERS[0] as string });
    expect((await ask(COSTLY, token)).status).toBe(200);

    // 190 MB by three accounts, where the process may hold 96.
    const sockets: RawSocket[] = [];
    for (const email of [...USERS, ...USERS, ...USERS]) {
      const socket = await openSocketOf(facade, gateway.token({ email }));
      if (socket === null) break;
      sockets.push(socket);
      await subscribeOften(socket);
    }
    expect(await readiness()).toMatchObject({ status: 'degraded', reasons: ['memory'] });
    const messages = sockets.flatMap((socket) => socket.messages);
    const refusals = messages.filter(({ type }) => type === 'error');
    expect(refusals.length).toBeGreaterThan(0);
    const later = { code: 'RATE_LIMITED', retryable: true, retryAfter: 10 };
    for (const { payload } of refusals) expect(payload[0].extensions).toEqual(later);
    expect((await ask('{ __typename }')).data).toEqual({ __typename: 'Query' });
    expect((await ask('{ positions { id symbol } }', token)).status).toBe(200);
    expect((await ask(ORDER, token)).data.placeOrder.__typename).toBe('OrderRejected');
    const costly = await ask(COSTLY, token);
    expect([costly.status, costly.headers.get('retry-after')]).toEqual([503, '10']);
    const refused = 'refusals_total{limit="memory"}';
    expect(await seriesValue(facade, refused)).toBeGreaterThan(0);
    await moved(facade, refused, 1, async () => {
      expect(await refusedUpgrade(facade)).toEqual([503, '10']);
    });
    const share = await seriesValue(facade, 'memory_held_share');
    expect([share >= 0.8, share < 1]).toEqual([true, true]);

    for (const { socket } of sockets) socket.terminate();
    const isOk = async () => expect(await readiness()).toMatchObject({ status: 'ok' });
    await eventually(isOk, { withinMs: 60_000 });
    expect((await ask(COSTLY, token)).status).toBe(200);
    for (const line of ['memory is short', 'memory is no longer short']) {
      const found = () => facade.logged.filter((logged) => logged.includes(line));
      await eventually(() => found().length > 0);
      expect(found()).toHaveLength(1);
    }
  },
);

/** Null where no more sockets are taken. */
async function openSocketOf(facade: FacadeProcess, token: string): Promise<RawSocket | null> {
  try {
    return await initializedSocket(facade, token);
  } catch (error) {
    expect(String(error)).toContain('503');
    return null;
  }
}

/** Each subscription is answered, so that the process has time to collect garbage in between. */
async function subscribeOften(socket: RawSocket): Promise<void> {
  for (let at = 0; at < 85; at += 1) {
    socket.subscribe(`${at}`, CHANGES, { after: `${at}${LARGE}` });
    await eventually(() => socket.of(`${at}`).length > 0);
    if (socket.of(`${at}`)[0]?.type === 'error') return;
  }
}

function refusedUpgrade({ webSocketUrl }: FacadeProcess): Promise<unknown> {
  const socket = new WebSocket(webSocketUrl, 'graphql-transport-ws');
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.once('unexpected-response', (_request, { statusCode, headers }) =>
      resolve([statusCode, headers['retry-after']]),
    );
  });
}
