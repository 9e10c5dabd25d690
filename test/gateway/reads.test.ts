import { describe, expect, test } from 'vitest';
import { read } from '../../src/gateway/define-operation.ts';
import { customerIdIn } from '../../src/gateway/operations/get-customer-id.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import {
  digits,
  figure,
  instant,
  isRow,
  type Reading,
  readingIn,
} from '../../src/gateway/wire/scalars.ts';
import { FairScheduler } from '../../src/lib/fair-scheduler.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { loginNamed } from '../support/accounts.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';
import { toSession } from './wire/read-session.ts';
import { instrumentRow, positionRow } from './wire/rows.ts';

describe('the catalog', () => {
  test.each([
    ['W/"a"', 'W/"a"'],
    ['"a"', '"a"'],
    ['unquoted', 'unquoted'],
    ['*', null],
    ['"caf\u00e9"', null],
    ['"a", "b"', null],
    ['', null],
  ])('keeps the tag %j as %j, to be sent back', async (header, etag) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, [instrumentRow], { etag: header })),
    );
    await using open = openClient(gateway.url);
    const first = await open.client.getAllTickers(anyCaller, 'g', null);
    expect(first).toMatchObject({ modified: true, etag });
    // The next call succeeds, whichever tag it was.
    await open.client.getAllTickers(anyCaller, 'g', first.modified ? first.etag : null);
    expect(gateway.requests[1]?.headers['if-none-match']).toBe(etag ?? undefined);
  });

  test.each([
    ['an object', '{}', 'application/json'],
    ['broken in the middle', `[${JSON.stringify(instrumentRow)},{"_id":`, 'application/json'],
    ['a page', '[]', 'text/html'],
  ])('that is %s is a contract error', async (_, body, type) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, Buffer.from(body), { 'content-type': type })),
    );
    await using open = openClient(gateway.url);
    await expect(open.client.getAllTickers(anyCaller, 'g', null)).rejects.toMatchObject({
      kind: 'contract',
      message: expect.stringContaining('no list of instruments'),
    });
  });
});

test('a read is sent with what it is asked with', async () => {
  await using gateway = await startScriptedGateway((socket) =>
    socket.write(answer(200, { customerId: 'c' })),
  );
  await using open = openClient(gateway.url);
  const page = read({
    name: 'getNews',
    number: 16,
    proves: 'nothing',
    calls: {
      page: { method: 'GET', path: '/news', query: ['first', 'after'], answer: { kind: 'any' } },
    },
    run: (calls, query: { readonly first: string; readonly after: string }) =>
      calls.send('page', { query }, (answer) => calls.value(answer, 'customer id', customerIdIn)),
  });
  expect(await open.client.read(anyCaller, page, { first: '2', after: 'a&b' })).toBe('c');
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/news?first=2&after=a%26b']);
});

describe('the open positions', () => {
  test('are the same objects where the bytes are the same', async () => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url);
    const caller = place.caller();
    const first = await open.client.getOpenPositions(caller, null);
    const second = await open.client.getOpenPositions(caller, first);
    expect(second.positions).toBe(first.positions);
    expect(second.logicalTime).toBeGreaterThan(first.logicalTime);

    place.sandbox.tick(5);
    const third = await open.client.getOpenPositions(caller, second);
    expect(third.positions).not.toEqual(first.positions);
  });

  test.each([
    ['no list', {}],
    ['a row twice', { positions: [positionRow, positionRow] }],
  ])('with %s are a contract error', async (_, body) => {
    await using gateway = await startScriptedGateway((socket) => socket.write(answer(200, body)));
    await using open = openClient(gateway.url);
    await expect(open.client.getOpenPositions(anyCaller, null)).rejects.toMatchObject({
      kind: 'contract',
    });
  });
});

test.each([
  ['auto', 2025],
  ['ms', 1970],
] as const)(
  'with times in %s all reads are of %i, and have their figures counted, long integers among them',
  async (gatewayTimeUnit, year) => {
    const at = 1_735_689_600;
    const positions = [{ ...positionRow, timeCreate: at }];
    const body = JSON.stringify({ at, profit: 0, id: 0, positions });
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, body.replaceAll(':0,', ':9007199254740993,'))),
    );
    const counted: [string, number, number][] = [];
    const onRead = (operation: string, { inexactFigures, texts }: Reading) =>
      counted.push([operation, inexactFigures, texts]);
    await using open = openClient(gateway.url, { gatewayTimeUnit, onRead });
    const map = (row: unknown, reading: Reading) =>
      isRow(row) ? [digits(row.id), figure(row.profit, reading), instant(row.at, reading)] : null;
    const figures = read({
      name: 'getCustomerId',
      number: 16,
      proves: 'nothing',
      calls: { get: { method: 'GET', path: '/figures', answer: { kind: 'any' } } },
      run: (calls) => calls.send('get', {}, (answer) => calls.value(answer, 'figures', map)),
    });
    const found = await open.client.read(anyCaller, figures);
    expect(found).toEqual(['9007199254740993', null, expect.any(Number)]);
    expect(counted).toEqual([['getCustomerId', 1, 0]]);
    const listed = await open.client.getOpenPositions(anyCaller, null);
    const times = [found[2], listed.positions[0]?.createdAt].map((ms) => new Date(Number(ms)));
    expect(times.map((time) => time.getUTCFullYear())).toEqual([year, year]);
  },
);

describe('the content type', () => {
  test.each([
    ['application/json', 'cus'],
    ['application/json; charset=utf-8', 'cus'],
    ['Application/Problem+JSON', 'cus'],
    [null, 'cus'],
    ['text/html', 'contract'],
    ['text/plain', 'contract'],
    ['application/jsonp', 'contract'],
    ['application/octet-stream; x=application/json', 'contract'],
  ])('%s is read as JSON, or refused: %s', async (type, expected) => {
    await using gateway = await startScriptedGateway((socket) => {
      const whole = answer(200, { customerId: 'cus' }, { 'content-type': type ?? '' });
      const bare = Buffer.from(whole.toString().replace(/content-type:.*\r\n/, ''));
      socket.write(type === null ? bare : whole);
    });
    await using open = openClient(gateway.url);
    const id = open.client.read(anyCaller, OPERATIONS.getCustomerId).catch((error) => error.kind);
    expect(await id).toBe(expected);
  });
});

describe('a long list of positions', () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => ({ ...positionRow, id: `p${at}` }));
  const text = JSON.stringify({ positions: rows });

  async function read(body: string) {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, Buffer.from(body))),
    );
    await using open = openClient(gateway.url);
    return await open.client.getOpenPositions(anyCaller, null);
  }

  /** Counts the turns of a scheduler with slices of a millisecond. */
  function countedTurns() {
    const scheduler = new FairScheduler(1);
    const turn = scheduler.turn.bind(scheduler);
    const counted = { scheduler, turns: 0 };
    scheduler.turn = (client) => {
      counted.turns += 1;
      return turn(client);
    };
    return counted;
  }

  test('is read in slices, of which each has a turn', async () => {
    const counted = countedTurns();
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, Buffer.from(text))),
    );
    await using open = openClient(gateway.url, { turns: counted.scheduler });
    const first = await open.client.getOpenPositions(anyCaller, null);
    expect(counted.turns).toBeGreaterThan(5);
    expect(first.positions).toHaveLength(5_000);
    expect(first.positions[4_999]?.id).toBe('p4999');
    const before = counted.turns;
    const again = await open.client.getOpenPositions(anyCaller, first);
    expect(again.positions).toBe(first.positions);
    expect(counted.turns).toBe(before);
  });

  test.each([
    ['and one of orders', rows, rows, null],
    ['and no order', rows, [], null],
    ['with a row that is none', [...rows, {}], [], 'contract'],
    ['beside an order that is none', rows, [...rows, null], 'contract'],
  ])('of a snapshot %s is read so too', async (_, positions, orders, kind) => {
    const counted = countedTurns();
    const login = loginNamed('700001');
    const snapshot = { login: 700001, group: 'g', positions, balance: 5, orders };
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, snapshot)),
    );
    await using open = openClient(gateway.url, { turns: counted.scheduler });
    const owned: unknown[] = [];
    const reading = open.client.getSession(anyCaller, login, (group) => owned.push(group));
    const read = await reading.catch((error) => error);
    expect(counted.turns).toBeGreaterThan(5);
    // Whose it is does not depend on its lists.
    expect(owned).toEqual(['g']);
    if (kind !== null) return expect(read).toMatchObject({ kind });
    expect(read.session).toEqual(toSession(snapshot, login, readingIn('auto')));
  });

  test.each([
    [
      'between other properties',
      `{"as":"\\"positions\\":[","positions" : ${JSON.stringify(rows)} ,"total":7}`,
    ],
    ['before another list', `{"positions":${JSON.stringify(rows)},"closed":[]}`],
    ['after one that is dropped', `{"positions":[{}],"positions":${JSON.stringify(rows)}}`],
  ])('%s is the same list', async (_, body) => {
    const { positions } = await read(body);
    expect(positions).toEqual((await read(text)).positions);
  });

  test.each([
    ['with an id twice', JSON.stringify({ positions: [...rows, rows[0]] })],
    ['with a row that is none', JSON.stringify({ positions: [...rows, null] })],
    ['that is cut off', text.slice(0, -3)],
    ['that is broken in the middle', text.replace('"p4000"', '"p4000')],
    ['in a list', `[${text}]`],
  ])('%s is a contract error', async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({ kind: 'contract' });
  });
});
