import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { type Change, startHeldGateway } from '../../support/held-gateway.ts';
import { check, DEMO, startGateway, type Variables } from './run-check.ts';

type Row = Readonly<Record<string, unknown>>;

/** The same JSON with each property changed, however deep it is. */
function changed(
  json: unknown,
  change: (name: string, value: unknown) => [string, unknown][],
): unknown {
  if (Array.isArray(json)) return json.map((each) => changed(each, change));
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json).flatMap(([name, value]) => change(name, value));
  return Object.fromEntries(entries.map(([name, value]) => [name, changed(value, change)]));
}

const renamed =
  (names: Readonly<Record<string, string>>): Change =>
  (body) =>
    changed(body, (name, value) => [[names[name] ?? name, value]]);

const TIMES = /^(time(Create|Update)|createdAt)$/;
const isPrice = (name: string) => /^(price|profit|equity)/.test(name);
const ofPositions =
  (change: (body: { readonly positions: readonly Row[] }) => unknown): Change =>
  (body: Row, url, status) =>
    status === 200 && url.endsWith('/trading/positions') ? change(body as never) : body;

interface Quirk {
  readonly change?: Change;
  readonly fault?: Fault;
  readonly set?: Variables;
  readonly args?: readonly string[];
  readonly exit: 0 | 1 | 75;
  readonly says: readonly RegExp[];
}

const READ_EXACTLY = /op 12: \d+ numbers or times are texts, which are read exactly: nothing/;
const withoutProfit: Change = (body) =>
  changed(body, (name, value) => (name === 'profit' ? [] : [[name, value]]));

const QUIRKS: Readonly<Record<string, Quirk>> = {
  'other names': {
    change: renamed({ priceCurrent: 'current_price', profit: 'pnl', equity: 'accountEquity' }),
    exit: 1,
    says: [
      /op 12: Absent from every row: positions\[\]\.priceCurrent, positions\[\]\.profit\./,
      /op 12: Names differ: .*`priceCurrent: row\.current_price`/,
      /op 12: By no name that is known: profit \(one of .*pnl.*\?\)\./,
      /op 10: Names differ: .*equity: row\.accountEquity/,
    ],
  },
  pages: {
    change: ofPositions(({ positions }) => ({
      positions: positions.slice(0, 1),
      total: positions.length,
    })),
    exit: 1,
    says: [
      /op 12: It is one page of several \(total\).*\?limit=10000/,
      /op 12: It lacks \d+ of the \d+ positions that op 10 lists, .*Where it has pages, its path/,
    ],
  },
  'numbers as texts': {
    change: (body) =>
      changed(body, (name, value) => [[name, isPrice(name) ? String(value) : value]]),
    exit: 0,
    says: [READ_EXACTLY],
  },
  'times in ISO 8601': {
    change: (body) =>
      changed(body, (name, value) => {
        const ms = Number(value) * (Number(value) < 1e11 ? 1_000 : 1);
        return [[name, TIMES.test(name) ? new Date(ms).toISOString() : value]];
      }),
    exit: 0,
    says: [READ_EXACTLY],
  },
  'a wrapper': {
    change: (body, _url, status) => (status === 200 ? { data: body } : body),
    exit: 1,
    says: [
      /op 2: access_token: string expected, missing found/,
      /op 2: The answer is inside of another: it is `body\.data`/,
    ],
  },
  'a list without its object': {
    change: ofPositions(({ positions }) => ({ data: { items: positions } })),
    exit: 1,
    says: [
      /op 12: The answer is inside of another: it is `\(\{ positions: body\.data\.items \}\)`/,
    ],
  },
  'snake case': {
    change: (body) =>
      changed(body, (name, value) => [
        [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value],
      ]),
    exit: 1,
    says: [/op 12: Names differ: .*friendlyName: row\.friendly_name.*timeCreate: row\.time_create/],
  },
  'another body of a 401': {
    change: (body, _url, status) => (status === 401 ? { code: 'NO_TOKEN' } : body),
    exit: 0,
    says: [/op 12: The body of a 401 has no `error` and no `message`/],
  },
  '429 with Retry-After': {
    fault: {
      operation: 'getCustomerId',
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '7' },
    },
    exit: 75,
    says: [/op 13: Status 429: too many calls for now; check again in 7 s/],
  },
  'empty lists': {
    set: { CHECK_EMAIL: 'fresh@example.com' },
    exit: 0,
    says: [
      /op 12: Empty: positions\. .*check with an account that has some\./,
      /op 12 .* 2 of 2 fields as described; \d+ in lists that are empty/,
    ],
  },
  'more fields, whose names may be data': {
    change: (body: Row) =>
      'customerId' in body
        ? { ...body, region: 'eu', 'somebody@example.com': 1, '700001': 1, 'two words': 1 }
        : body,
    exit: 0,
    says: [/op 13: Not in the interface, and not read: \[…\] \(number\), region \(string\)\./],
  },
  'a field that it lacks': {
    change: withoutProfit,
    exit: 1,
    says: [/op 12: Absent from every row: positions\[\]\.profit\. .*--allow-missing NAME\./],
  },
  'a field that it may lack': {
    change: withoutProfit,
    args: ['--allow-missing', 'profit'],
    exit: 0,
    says: [/op 12: Missing, or null: positions\[\]\.profit\./],
  },
  'a field of another type that it may have': {
    change: ofPositions(({ positions }) => ({
      positions: positions.map((row) => ({ ...row, profit: {} })),
    })),
    args: ['--allow-missing', 'positions[].profit'],
    exit: 0,
    says: [/op 12: positions\[\]\.profit: number expected, object \d+ of \d+ times found/],
  },
};

test.each(Object.entries(QUIRKS))(
  'of %s it is said what they cost, and the remedy',
  async (_, quirk) => {
    const { change, fault, set, args, exit, says } = quirk;
    await using gateway = await startGateway();
    await using front = await startHeldGateway(gateway);
    if (change !== undefined) front.change(change);
    if (fault !== undefined) gateway.fail(fault);
    // The front passes no headers on.
    const { url } = fault === undefined ? front : gateway;
    const { code, text } = await check({ GATEWAY_URL: url, ...DEMO, ...set }, args);
    for (const one of says) expect(text).toMatch(one);
    expect(code).toBe(exit);
  },
);
