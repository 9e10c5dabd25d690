import { expect, test } from 'vitest';
import { type CutOffOptions, watchCutOffs } from '../../../src/domain/trading/cut-off.ts';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { type CutOffOrder, RecordsUnavailableError } from '../../../src/store/order-records.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

test('an order that was cut off has its line and its entry, is counted as unknown, and found again after records were away', async () => {
  const clock = createScriptedClock();
  const told: object[] = [];
  const asked: (readonly CutOffOrder[] | Error)[] = [
    [],
    new RecordsUnavailableError('away'),
    [{ account: accountNamed('7~tenant'), key: 'k', reservedAtMs: 5 }],
    [],
  ];
  const options = {
    records: {
      cutOff: async () => {
        const next = asked.shift() ?? [];
        if (next instanceof Error) throw next;
        return next;
      },
    },
    trail: {
      add: (of: object, event: string, facts: object) => told.push({ ...of, event, ...facts }),
    },
    clock,
    log: { warn: (line: object) => told.push(line), info: (line: object) => told.push(line) },
    lines: orderLines('a key'),
    metrics: { orders: { add: (outcome: string) => told.push({ counted: outcome }) } },
  } as unknown as CutOffOptions;
  const end = watchCutOffs(options);
  await clock.advance(30_000);
  const of = orderLines('a key').ofKey({ account: accountNamed('7~tenant'), key: 'k' });
  expect(of.account).toBe(
    orderLines('a key').ofKey({ account: accountNamed('7'), key: '' }).account,
  );
  expect(of.tenant).toMatch(/^[\da-f]{16}$/);
  const line = { ...of, sentAt: '1970-01-01T00:00:00.005Z', outcome: 'unknown', isCutOff: true };
  expect(told).toEqual([
    line,
    line,
    { account: '7~tenant', key: 'k', event: 'cut off', sentAt: line.sentAt, outcome: 'unknown' },
    { counted: 'unknown' },
  ]);
  end();
  // One that ends while it looks goes on no more.
  watchCutOffs(options)();
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});
