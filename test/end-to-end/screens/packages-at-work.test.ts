import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { expect, test, vi } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { send, TRANSPORTS } from '../../support/four-transports.ts';

test('instruments use one DataLoader batch per operation, and lru-cache fetches the catalog', async () => {
  const load = vi.spyOn(DataLoader.prototype, 'load');
  const fetch = vi.spyOn(LRUCache.prototype, 'forceFetch');
  await using app = await startTestApp({ FEDERATION: 'on' });
  const token = await app.signIn();
  const all = '{ positions { id symbol instrument { id } } orders { id instrument { id } } }';
  const { data } = await app.query(all, { token });
  const [position] = data.positions;
  const [order] = data.orders;
  const rows = [...data.positions, ...data.orders];
  expect(rows.map(({ instrument }) => instrument?.id)).not.toContain(undefined);
  expect(load).toHaveBeenCalledTimes(rows.length);
  expect(new Set(load.mock.contexts).size).toBe(1);
  expect(fetch).toHaveBeenCalledTimes(1);
  load.mockClear();
  const query = `query ($id: ID!, $representations: [_Any!]!) {
    instrument(id: "${position.symbol}") { id }
    instrumentsByIds(ids: ["${position.symbol}", "none"]) { id }
    position(id: "${position.id}") { id }
    order(id: $id) { id }
    _entities(representations: $representations) { ... on Position { id } }
  }`;
  const representations = [position.id, 'none'].map((id) => ({ __typename: 'Position', id }));
  const keyed = await app.query(query, { token, variables: { id: order.id, representations } });
  expect(keyed.data).toEqual({
    instrument: { id: position.symbol },
    instrumentsByIds: [{ id: position.symbol }, null],
    position: { id: position.id },
    order: { id: order.id },
    _entities: [{ id: position.id }, null],
  });
  // The instruments are read from memory, without a DataLoader.
  expect(load).not.toHaveBeenCalled();
  expect(fetch).toHaveBeenCalledTimes(1);
  vi.restoreAllMocks();
});

test('yoga executes each operation of every transport once, and graphql-ws begins the operations of a socket', async () => {
  const begun: boolean[] = [];
  const onEnveloped = () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = Infinity;
    begun.push(new Error().stack?.includes('/graphql-ws/') === true);
    Error.stackTraceLimit = stackTraceLimit;
  };
  await using app = await startTestApp({}, { plugins: [{ onEnveloped }] });
  const token = await app.signIn();
  for (const transport of TRANSPORTS) {
    begun.length = 0;
    const { data } = await send(app, transport, '{ customerId }', { token });
    expect(data).toEqual({ customerId: 'cus_700001' });
    expect(begun).toEqual([transport === 'WebSocket']);
  }
});
