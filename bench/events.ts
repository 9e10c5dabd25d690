/**
 * The bytes of one event of `account`, as they come to a phone: with whole rows, and with five fields. `npm run bench -- events`
 * prints Markdown.
 */
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { createClient } from '../client/src/create-client.ts';
import type { TypedText } from '../client/src/operation.ts';
import { type Sandbox, startSandbox } from '../src/sandbox/start.ts';
import { eventually } from '../test/support/eventually.ts';
import { startFacadeProcess } from '../test/support/facade-process.ts';
import { table } from './support/markdown.ts';

/** Holds 25 positions. */
const EMAIL = 'pro@example.com';
/** In points of the last decimal, to and fro by little, so that nothing is closed, and never back to where it was. */
const MOVES = [3, -4, 5];
const SYMBOLS: TypedText<{ positions: { id: string; symbol: string }[] }, unknown> =
  '{ positions { id symbol } }';
const FIVE = ['id', 'symbol', 'digits', 'priceCurrent', 'profit'] as const;
const TWO_FIGURES = {
  list: 'account',
  positionFields: FIVE,
  sessionFields: ['balance', 'equity'],
} as const;
const CASES = {
  '`account`, all fields': { list: 'account' },
  '`account`, five of positions and orders, two figures': {
    ...TWO_FIGURES,
    orderFields: ['symbol', 'side', 'units', 'priceOpen'],
  },
  '`account`, five of positions, two figures, no orders': { ...TWO_FIGURES, orderFields: [] },
  '`positions`, all fields': { list: 'positions' },
  '`positions`, five fields': { list: 'positions', positionFields: FIVE },
  '`positions`, five fields without the symbol': {
    list: 'positions',
    positionFields: ['id', 'side', 'digits', 'priceCurrent', 'profit'],
  },
} as const;
type Case = keyof typeof CASES;

if (import.meta.main) {
  await using sandbox = await startSandbox({ seed: 'events', tickMs: 0 });
  const facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, ORDER_STORE: 'memory' });
  const sizes = await measureEvents(facade.url, sandbox);
  const rows = sizes.map(({ name, moved, bytes }) => [name, String(moved), `${bytes} B`]);
  process.stdout.write(`${table(['followed', 'positions moved', 'bytes'], rows)}\n`);
  await facade.kill();
}

/** The bytes of events, and how many positions moved in each. The market stands still but for what is moved here. */
async function measureEvents(service: string, sandbox: Sandbox) {
  const sizes: { name: Case; moved: number; bytes: number }[] = [];
  for (const name of Object.keys(CASES) as Case[]) {
    for (const size of await measureCase(service, sandbox, name)) sizes.push({ name, ...size });
  }
  return sizes;
}

/** An event in which one position has moved, and one in which all have. */
async function measureCase(service: string, sandbox: Sandbox, name: Case) {
  const phone = phoneSocket();
  const token = sandbox.token({ email: EMAIL });
  const client = createClient({
    url: `${service}/graphql`,
    token: () => token,
    ...CASES[name],
    environment: { WebSocket: phone.WebSocket },
  });
  const { state } = client[CASES[name].list];
  client[CASES[name].list](() => {});
  await eventually(() => state().status === 'LIVE' && Object(state()).session !== null);
  const { data } = await client.query(SYMBOLS);
  const symbols = new Map(data?.positions.map(({ id, symbol }) => [id, symbol]));
  const found: { moved: number; bytes: number }[] = [];
  for (const count of [1, state().positions?.length ?? 0]) {
    const tries: { moved: number; bytes: number }[] = [];
    for (const points of MOVES) {
      const { positions } = state();
      const before = phone.bytesRead();
      for (const { id, priceCurrent, digits } of (positions ?? []).slice(0, count)) {
        const price = (priceCurrent ?? 1) + points / 10 ** (digits ?? 0);
        sandbox.putPrice(symbols.get(id) ?? '', Number(price.toFixed(digits ?? 0)));
      }
      await eventually(() => state().positions !== positions);
      const moved = state().positions?.filter((row) => !positions?.includes(row)).length ?? 0;
      tries.push({ moved, bytes: phone.bytesRead() - before });
    }
    // A heartbeat or new figures may come beside one.
    found.push(tries.reduce((a, b) => (b.bytes < a.bytes ? b : a)));
  }
  client.dispose();
  return found;
}

/** A platform's WebSocket, and all bytes that have come to it, frames included. */
function phoneSocket() {
  let stream: Socket | null = null;
  class Counted extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: false });
      this.once('upgrade', ({ socket }) => {
        stream = socket;
      });
    }
  }
  return {
    WebSocket: Counted as unknown as typeof globalThis.WebSocket,
    bytesRead: () => stream?.bytesRead ?? 0,
  };
}
