import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import { WebSocket } from 'ws';
import { measureEvents } from '../../../bench/events.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ACCOUNT_OPERATION } from '../../src/account-operation.ts';
import type { AccountFigures, PendingOrder, Position } from '../../src/index.ts';
import { accountDocument, createClient, positionsDocument } from '../../src/index.ts';
import { signedIn } from '../support/client.ts';

const CHOICE = {
  positionFields: ['profit', 'symbol'],
  orderFields: ['side'],
  sessionFields: ['equity', 'access'],
} as const;

function open(app: TestApp) {
  return createClient({
    ...signedIn(app, 'pro@example.com'),
    ...CHOICE,
    environment: { WebSocket: WebSocket as unknown as typeof globalThis.WebSocket },
  });
}

test('the state has the chosen fields and the ids, which a server of trusted documents answers by the printed texts', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'trading-graph-chosen-'));
  const texts = [accountDocument(CHOICE), positionsDocument(CHOICE)];
  writeFileSync(
    join(folder.path, 'live.json'),
    JSON.stringify({ ...texts, account: ACCOUNT_OPERATION }),
  );
  await using app = await startTestApp({
    PERSISTED_DOCUMENTS: folder.path,
    PERSISTED_DOCUMENTS_ONLY: 'on',
  });
  const client = open(app);
  client.account(() => {});
  client.positions(() => {});
  await eventually(() => client.account.state().session !== null);
  await eventually(() => client.positions.state().status === 'LIVE');
  const { positions, orders, session } = client.account.state();
  expect(Object.keys(positions[0] ?? {})).toEqual(['id', 'profit', 'symbol']);
  expect(client.positions.state().positions[0]).toEqual(positions[0]);
  expect(Object.keys(orders?.[0] ?? {})).toEqual(['id', 'side']);
  expect(session).toEqual({
    equity: expect.any(Number),
    access: { currencyDigits: expect.any(Number) },
  });
  expectTypeOf(positions).toEqualTypeOf<readonly Pick<Position, 'id' | 'profit' | 'symbol'>[]>();
  expectTypeOf(orders).toEqualTypeOf<readonly Pick<PendingOrder, 'id' | 'side'>[] | null>();
  expectTypeOf(session).toEqualTypeOf<Pick<AccountFigures, 'access' | 'equity'> | null>();
  client.dispose();
});

test('a name that the rows do not have is refused, by TypeScript and when the client is made', () => {
  const base = { url: 'http://localhost/graphql', token: () => null };
  // @ts-expect-error There is no such field.
  expect(() => createClient({ ...base, positionFields: ['price'] })).toThrow(TypeError);
  // @ts-expect-error There is no such field.
  expect(() => createClient({ ...base, orderFields: ['side } x: me { id'] })).toThrow(TypeError);
  // @ts-expect-error There is no such field.
  expect(() => createClient({ ...base, sessionFields: ['constructor'] })).toThrow(TypeError);
});

test('an empty list leaves orders and figures out, and keeps the ids of positions', () => {
  const text = accountDocument({ positionFields: [], orderFields: [], sessionFields: [] });
  expect(text).not.toMatch(/orders|session/);
  expect(text).toMatch(/positions \{\s+upserted \{\s+id\s+\}\s+closed\s+\}/);
  // The order in which an app names them makes no other document.
  const orderFields = ['symbol', 'side'] as const;
  expect(accountDocument({ orderFields })).toBe(
    accountDocument({ orderFields: orderFields.toReversed() }),
  );
});

test('an event of five fields is small on the wire', async () => {
  await using sandbox = await startSandbox({ seed: 'lines', tickMs: 0 });
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { gateway: sandbox });
  const sizes = await measureEvents(app.url, sandbox);
  expect(sizes.map(({ moved }) => moved)).toEqual(sizes.map((_size, at) => (at % 2 ? 25 : 1)));
  const sizeOf = (name: string, moved: number) =>
    sizes.find((size) => size.name === name && size.moved === moved);
  expect(sizeOf('`positions`, five fields', 1)?.plain).toBeLessThanOrEqual(450);
  const account = '`account`, five of positions, two figures, no orders';
  expect(sizeOf(account, 1)?.plain).toBeLessThanOrEqual(450);
  expect(sizeOf('`positions`, five fields', 25)?.packed).toBeLessThanOrEqual(800);
  const nameless = '`positions`, five fields without the symbol';
  expect(sizeOf(nameless, 25)?.packed).toBeLessThanOrEqual(640);
});
