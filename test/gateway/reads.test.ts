import { describe, expect, test } from 'vitest';
import { read } from '../../src/gateway/define-operation.ts';
import { CUSTOMER_ID } from '../../src/gateway/operations/get-customer-id.ts';
import { OPEN_POSITIONS } from '../../src/gateway/operations/get-open-positions.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { digits, figure, instant, type Reading } from '../../src/gateway/scalars.ts';
import { isObject } from '../../src/lib/json.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';
import { instrumentRow, positionRow, positionWith } from './wire/rows.ts';

describe('the catalog', () => {
  test.each([
    ['W/"a"', 'W/"a"'],
    ['"a"', '"a"'],
    ['unquoted', 'unquoted'],
    ['*', null],
    ['"caf\u00e9"', null],
    ['"a", "b"', null],
    ['', null],
  ])('keeps the tag %j as %j for the next request', async (header, etag) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, [instrumentRow], { etag: header })),
    );
    await using open = openClient(gateway.url);
    const readWith = (known: string | null) =>
      open.client.read(anyCaller, OPERATIONS.getAllTickers, { group: 'g', etag: known });
    const first = await readWith(null);
    expect(first).toMatchObject({ modified: true, etag });
    // The next call succeeds even with a tag that was not kept.
    await readWith(first.modified ? first.etag : null);
    expect(gateway.requests[1]?.headers['if-none-match']).toBe(etag ?? undefined);
  });

  test.each([
    ['an object', '{}', 'application/json'],
    ['broken in the middle', `[${JSON.stringify(instrumentRow)},{"a":`, 'application/json'],
    ['a page', '[]', 'text/html'],
  ])('that is %s is a contract error', async (_, body, type) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, Buffer.from(body), { 'content-type': type })),
    );
    await using open = openClient(gateway.url);
    const given = { group: 'g', etag: null };
    const message = expect.stringContaining('no list of instruments');
    const catalog = open.client.read(anyCaller, OPERATIONS.getAllTickers, given);
    await expect(catalog).rejects.toMatchObject({ kind: 'contract', message });
  });
});

test('a read sends its query parameters', async () => {
  await using gateway = await startScriptedGateway((socket) =>
    socket.write(answer(200, CUSTOMER_ID.toWire({ customerId: 'c' }))),
  );
  await using open = openClient(gateway.url);
  const page = read({
    name: 'getNews',
    number: 16,
    proves: 'nothing',
    calls: {
      page: { method: 'GET', path: '/news', query: ['first', 'after'], answer: { kind: 'any' } },
    },
    run: async (calls, query: { readonly first: string; readonly after: string }) =>
      calls.read(await calls.send('page', { query }), CUSTOMER_ID),
  });
  const answered = open.client.read(anyCaller, page, { first: '2', after: 'a&b' });
  expect(await answered).toEqual({ customerId: 'c' });
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/news?first=2&after=a%26b']);
});

describe('the open positions', () => {
  test('are the same objects if the bytes are the same', async () => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url);
    const caller = place.caller();
    const first = await open.client.read(caller, OPERATIONS.getOpenPositions, null);
    // A body is hashed only if its length equals the last one's, so the third read is the first that can compare hashes.
    const second = await open.client.read(caller, OPERATIONS.getOpenPositions, first);
    const third = await open.client.read(caller, OPERATIONS.getOpenPositions, second);
    expect(third.rows).toBe(second.rows);
    expect(third.logicalTime).toBeGreaterThan(second.logicalTime);

    place.sandbox.tick(5);
    const moved = await open.client.read(caller, OPERATIONS.getOpenPositions, third);
    expect(moved.rows).not.toEqual(first.rows);
  });

  test.each([
    ['no list', {}],
    ['a row twice', OPEN_POSITIONS.toWire({ positions: [positionRow, positionRow] })],
  ])('with %s are a contract error', async (_, body) => {
    await using gateway = await startScriptedGateway((socket) => socket.write(answer(200, body)));
    await using open = openClient(gateway.url);
    const positions = open.client.read(anyCaller, OPERATIONS.getOpenPositions, null);
    await expect(positions).rejects.toMatchObject({ kind: 'contract' });
  });
});

test.each([
  ['auto', 2025],
  ['ms', 1970],
] as const)(
  'with the time unit %s a time is read as the year %i, and long integers are exact',
  async (unit, year) => {
    // This number of seconds is a moment of 2025. As milliseconds it is a moment of 1970.
    const at = 1_735_689_600;
    const positions = [positionWith({ createdAt: at })];
    const body = JSON.stringify({ at, profit: 0, id: 0, ...OPEN_POSITIONS.toWire({ positions }) });
    // A number literal cannot be this integer, so the text replaces the zeros.
    const exactBody = body.replaceAll(':0,', ':9007199254740993,');
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(200, exactBody)),
    );
    await using open = openClient(gateway.url, { gatewayTimeUnit: unit });
    const map = (row: unknown, reading: Reading) =>
      isObject(row) ? [digits(row.id), figure(row.profit), instant(row.at, reading)] : null;
    const figures = read({
      name: 'getFigures',
      number: 16,
      proves: 'nothing',
      calls: { get: { method: 'GET', path: '/figures', answer: { kind: 'any' } } },
      run: async (calls) => calls.value(await calls.send('get'), 'figures', map),
    });
    const found = await open.client.read(anyCaller, figures);
    expect(found).toEqual(['9007199254740993', null, expect.any(Number)]);
    const listed = await open.client.read(anyCaller, OPERATIONS.getOpenPositions, null);
    const times = [found[2], listed.rows[0]?.createdAt].map((ms) => new Date(Number(ms)));
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
  ])('%s leads to the id in the JSON, or to an error: %s', async (type, expected) => {
    await using gateway = await startScriptedGateway((socket) => {
      const whole = answer(200, CUSTOMER_ID.toWire({ customerId: 'cus' }), {
        'content-type': type ?? '',
      });
      const bare = Buffer.from(whole.toString().replace(/content-type:.*\r\n/, ''));
      socket.write(type === null ? bare : whole);
    });
    await using open = openClient(gateway.url);
    const id = open.client.read(anyCaller, OPERATIONS.getCustomerId).catch((error) => error.kind);
    expect(await id).toBe(expected);
  });
});
