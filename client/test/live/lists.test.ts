import { expect, expectTypeOf, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { Position } from '../../src/generated/rows.ts';
import { listDocument } from '../../src/live/list-operation.ts';
import type { TypedText } from '../../src/operation.ts';
import { fakeClient } from '../../src/testing.ts';
import { gatewayList, prints, startLiveWorld } from './live-world.ts';

type Row = Pick<Position, 'id' | 'symbol' | 'profit'>;
const FIELDS = { fields: ['symbol', 'profit'], ticks: ['profit'] } as const;

interface NamedRow {
  readonly symbol: string;
  readonly number: string;
}
const NAMED: TypedText<
  { readonly changes: { readonly upserted: readonly NamedRow[] } },
  { after: string | null }
> = `subscription Named($after: String, $intervalMs: Int) {
  changes: positionChanges(after: $after, intervalMs: $intervalMs) {
    cursor snapshot upserted { number: id symbol } ticks { number: id } closed status asOf
  }
}`;

const world = startedForEach(startLiveWorld);

test('a list by its name follows the server over lost lines, by ticks, in one subscription however many ask', async () => {
  const { live, core } = world.device();
  const list = live<Row>('positionChanges', FIELDS);
  expect(live<Row>('positionChanges', FIELDS)).toBe(list);
  expect(list.state()).toMatchObject({ rows: null, status: 'CONNECTING', asOf: null, error: null });
  const end = list(() => {});
  live<Row>('positionChanges', FIELDS)(() => {});
  const agrees = () =>
    eventually(async () => {
      expect(list.state()).toMatchObject({ status: 'LIVE', asOf: expect.any(Date) });
      expect(prints(list.state().rows ?? [])).toBe(prints(await gatewayList(world)));
    });
  await agrees();
  const before = list.state().rows;
  world.proxy.cut();
  world.sandbox.tick();
  await eventually(() => list.state().rows !== before);
  await agrees();
  expect(list.state().rows?.[0]?.symbol).toBe(before?.[0]?.symbol);
  expect(core.begun).toBe(1);
  expect(core.sent).toMatchObject([{ after: null }, { after: expect.any(String) }]);
  end();
});

test('a list by an operation has its rows and keys, and begins from nothing for another account', async () => {
  let email = 'demo@example.com';
  const { live, core } = world.device({ token: () => world.sandbox.token({ email }) });
  const list = live(NAMED, { key: ({ number }) => number });
  expectTypeOf(list.state().rows).toEqualTypeOf<readonly NamedRow[] | null>();
  list(() => {}, { intervalMs: 1_000 });
  await eventually(() => list.state().rows?.length === 6);
  const ids = (await gatewayList(world)).map(({ id }) => id);
  expect(list.state().rows?.map(({ number }) => number)).toEqual(ids);
  expect(core.sent).toEqual([{ after: null, intervalMs: 1_000, heartbeatSeconds: 15 }]);
  email = 'pro@example.com';
  await core.tokenChanged();
  await eventually(() => list.state().rows?.length === 25);
  expect(core.sent.at(-1)).toMatchObject({ after: null });
});

test('lists with other variables are others, and the client gives cursor and times itself', async () => {
  const { live, core } = world.device();
  const variables = { of: 'AAPL', after: 'mine' };
  const list = live(NAMED, { key: ({ number }) => number, variables });
  expect(live(NAMED, { variables: { of: 'TSLA' } })).not.toBe(list);
  expect(live(NAMED, { variables: { ...variables } })).toBe(list);
  list(() => {});
  await eventually(() => core.sent.length === 1);
  expect(core.sent).toEqual([{ of: 'AAPL', after: null, intervalMs: null, heartbeatSeconds: 15 }]);
});

test('of the lists that nobody follows any more the last eight are kept, to go on from', async () => {
  const { client, market } = fakeClient({ positions: [{ id: '1' }] });
  const lists = Array.from({ length: 10 }, (_, of) =>
    client.live(listDocument<Row>('positionChanges', FIELDS), { variables: { of } }),
  );
  for (const list of lists) {
    const leave = list(() => {});
    await market.pass(0);
    expect(list.state().status).toBe('LIVE');
    leave();
    await market.pass(0);
  }
  const kept = () => lists.map((list) => list.state().rows?.length);
  expect(kept()).toEqual([undefined, undefined, ...Array(8).fill(1)]);
  lists[2]?.(() => {});
  lists[0]?.(() => {})();
  await market.pass(0);
  const after = () => market.subscriptions.at(-1)?.variables.after;
  expect([after(), kept()]).toEqual(['v0', [undefined, undefined, ...Array(8).fill(1)]]);
  lists[1]?.(() => {});
  await market.pass(0);
  expect([after(), kept()]).toEqual([null, [undefined, ...Array(9).fill(1)]]);
  client.dispose();
  expect(market.network.pending).toBe(0);
});

test('a list that is followed again keeps its rows where another is left for it', async () => {
  const { client, market } = fakeClient({ positions: [{ id: '1' }] });
  const lists = Array.from({ length: 9 }, (_, of) =>
    client.live(listDocument<Row>('positionChanges', FIELDS), { variables: { of } }),
  );
  let leave = () => {};
  for (const list of lists) {
    leave();
    leave = list(() => {});
    await market.pass(0);
  }
  const shown: number[] = [];
  leave();
  lists[0]?.(({ rows }) => shown.push(rows?.length ?? 0));
  await market.pass(0);
  expect(market.subscriptions.at(-1)?.variables).toMatchObject({ of: 0, after: 'v0' });
  expect(new Set(shown)).toEqual(new Set([1]));
  client.dispose();
});

test('a list whose key is no text ends with an error that names it, and is not asked for again', async () => {
  const { live, core, environment } = world.device();
  const list = live(NAMED);
  list(() => {});
  await eventually(() => list.state().error !== null);
  const message = expect.stringContaining('changes: a row has no key');
  expect(list.state().error).toMatchObject({ code: 'PROTOCOL', retryable: false, message });
  await eventually(() => expect([environment.timers.size, core.begun]).toEqual([0, 1]));
});

test('a key that throws something else than an error ends its list all the same', async () => {
  const { live, environment } = world.device();
  const list = live(NAMED, { key: () => String(AbortSignal.abort(null).throwIfAborted()) });
  list(() => {});
  await eventually(() => list.state().error !== null);
  expect(list.state()).toMatchObject({ status: 'OFFLINE', error: { code: 'PROTOCOL' } });
  await eventually(() => environment.timers.size === 0);
});

test('a list that the server does not have says so, and is not asked for again; one of a disposed client says that', async () => {
  const { live, core, environment } = world.device();
  const list = live<{ id: string }>('newsChanges', { fields: ['id'] });
  list(() => {});
  await eventually(() => list.state().error !== null);
  expect(list.state()).toMatchObject({
    status: 'OFFLINE',
    error: { code: 'GRAPHQL_VALIDATION_FAILED' },
  });
  await eventually(() => environment.timers.size === 0);
  core.dispose();
  const late = live<{ id: string; symbol: string }>('newsChanges', { fields: ['id', 'symbol'] });
  expect(late.state()).toMatchObject({ status: 'OFFLINE', error: { code: 'DISPOSED' } });
});

test('a name that is none is refused before it is part of a text', () => {
  expect(() => listDocument('a { b', { fields: [] })).toThrow(TypeError);
  expect(() => listDocument<Row>('alerts', { fields: ['id } b' as 'id'] })).toThrow(TypeError);
  expect(() => listDocument<Row>('alerts', { fields: ['id'], ticks: ['' as 'id'] })).toThrow(
    TypeError,
  );
});
