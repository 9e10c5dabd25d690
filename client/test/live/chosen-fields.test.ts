import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ACCOUNT_OPERATION } from '../../src/account-operation.ts';
import type { ERROR_CODES } from '../../src/generated/error-codes.ts';
import type { AccountFigures, PendingOrder, Position } from '../../src/index.ts';
import { accountDocuments, createClient, positionsDocuments } from '../../src/index.ts';
import { signedIn } from '../support/client.ts';

const HOME =
  'query ($s: String) { instruments(filter: { search: $s }, first: 1) { nodes { id } } }';
const CHOICE = {
  positionFields: ['profit', 'symbol'],
  orderFields: ['side'],
  sessionFields: ['equity', 'access'],
} as const;

test('with only trusted documents, live data has the chosen fields and the ids, and a query by its name is sent by GET', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'trading-graph-chosen-'));
  const texts = [accountDocuments(CHOICE), positionsDocuments(CHOICE)].flatMap((each) =>
    Object.values(each),
  );
  writeFileSync(
    join(folder.path, 'live.json'),
    JSON.stringify({ ...texts, account: ACCOUNT_OPERATION, home: HOME }),
  );
  await using app = await startTestApp({
    PERSISTED_DOCUMENTS: folder.path,
    PERSISTED_DOCUMENTS_ONLY: 'on',
  });
  const methods: string[] = [];
  const client = createClient({
    ...signedIn(app, 'pro@example.com'),
    ...CHOICE,
    environment: {
      WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
      fetch(input, init) {
        methods.push(init?.method ?? 'GET');
        return fetch(input, init);
      },
    },
  });
  client.account(() => {});
  client.positions(() => {});
  await eventually(() => client.account.state().session !== null);
  await eventually(() => expect(client.positions.state().status).toBe('LIVE'));
  const { positions, orders, session } = client.account.state();
  expect(Object.keys(positions?.[0] ?? {})).toEqual(['id', 'profit', 'symbol']);
  expect(client.positions.state().positions?.[0]).toEqual(positions?.[0]);
  expect(Object.keys(orders?.[0] ?? {})).toEqual(['id', 'side']);
  expect(session).toEqual({
    equity: expect.any(Number),
    access: { currencyDigits: expect.any(Number) },
  });
  expectTypeOf(positions).toEqualTypeOf<
    readonly Pick<Position, 'id' | 'profit' | 'symbol'>[] | null
  >();
  expectTypeOf(orders).toEqualTypeOf<readonly Pick<PendingOrder, 'id' | 'side'>[] | null>();
  expectTypeOf(session).toEqualTypeOf<Pick<AccountFigures, 'access' | 'equity'> | null>();
  methods.length = 0;
  const answer = await client.query({ documentId: 'home' }, { s: 'AAPL' });
  expect(answer).toEqual({ data: { instruments: { nodes: [{ id: 'AAPL' }] } }, errors: [] });
  expect(methods).toEqual(['GET']);
  const refused = await client.query('{ session { balance } }');
  const code: keyof typeof ERROR_CODES = 'PERSISTED_DOCUMENT_REQUIRED';
  expect(refused.errors).toMatchObject([{ code }]);
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

test('an empty list of fields leaves out the orders or the session, and keeps the ids of positions', () => {
  const none = { positionFields: [], orderFields: [], sessionFields: [] } as const;
  const { subscription: text, query } = accountDocuments(none);
  expect(text + query).not.toMatch(/orders|session/);
  expect(text).toMatch(/positions \{\s+upserted \{\s+id\s+\}\s+ticks \{ id \}\s+closed\s+\}/);
  // The order of the names does not change the document.
  const orderFields = ['symbol', 'side'] as const;
  expect(accountDocuments({ orderFields })).toEqual(
    accountDocuments({ orderFields: orderFields.toReversed() }),
  );
});
