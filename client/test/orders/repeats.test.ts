import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { ownFolder } from '../../../test/support/own-folder.ts';
import { startedForEach } from '../../../test/support/started.ts';
import {
  ACCEPTED,
  buying,
  LIMIT,
  minuteOf,
  startPhone,
  unknown,
  unsent,
} from '../support/phone.ts';

const folder = ownFolder();
const phone = startedForEach(startPhone);
/** An order at market may be sent for five seconds else, which pass on a busy machine. */
const PATIENT = { maxWaitMs: 60_000 };

test.each(['lost', 'answer-lost', 'within the answer', 'portal'] as const)(
  'an order is one order where the line fails twice: %s',
  async (fault) => {
    const { orders } = phone.open();
    phone.line.next.push(fault, fault);
    expect(await orders.ticket(PATIENT).place(buying('again'))).toMatchObject(ACCEPTED);
    expect(phone.line.orders).toBe(3);
    expect(phone.app.sandbox.orders()).toHaveLength(1);
    expect(phone.storage.entries.size).toBe(0);
  },
);

test.each([
  ['it asks for a pause', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
  ['a token that has just run out', { kind: 'status', status: 401 }],
] as const)('an order that the gateway did not take is sent again: %s', async (_, fault) => {
  const { orders } = phone.open({ renew: () => phone.signIn('demo@example.com') });
  phone.app.sandbox.fail({ operation: 'openPosition', times: 1, ...fault });
  expect(await orders.ticket(PATIENT).place(buying('later'))).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a full store of records is waited for', async () => {
  await using phone = await startPhone({ ORDER_RECORDS_MAX: '1' });
  await phone.open().orders.ticket().place(buying('first'));
  const { environment, ticket, withinMs } = minuteOf(phone, 3);
  const { orders, sent } = phone.open({}, environment);
  expect(await orders.ticket(ticket).place(buying('second'), { withinMs })).toMatchObject(
    unsent('IDEMPOTENCY_UNAVAILABLE'),
  );
  expect(sent).toHaveLength(3);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
  expect(phone.storage.entries.size).toBe(0);
});

test('an order stays in doubt where the server cannot say whether an earlier request was sent', async () => {
  const file = join(folder.path, 'orders.db');
  await using phone = await startPhone({ ORDER_STORE: file });
  const { environment, ticket: options, withinMs } = minuteOf(phone, 3);
  const { orders } = phone.open({}, environment);
  await rename(file, `${file}.away`);
  const ticket = orders.ticket(options);
  const { idempotencyKey } = ticket;
  expect(await ticket.place(buying('open'), { withinMs })).toMatchObject(
    unknown('IDEMPOTENCY_UNAVAILABLE', { extensions: { earlierUnknown: true } }),
  );
  expect(phone.storage.entries.size).toBe(1);
  await rename(`${file}.away`, file);
  expect(await ticket.place(buying('open'))).toMatchObject({ status: 'accepted', idempotencyKey });
});

test.each([
  ['the outcome is sought', {}, { withinMs: 60_000 }],
  ['the order may be sent', { maxWaitMs: 60_000 }, {}],
] as const)('a pause longer than %s is not begun', async (_, ticket, options) => {
  const timers: number[] = [];
  const after = (ms: number, task: () => void) => {
    timers.push(ms);
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  };
  const { orders } = phone.open({}, { after });
  const headers = { 'retry-after': '70' };
  phone.app.sandbox.fail({ operation: 'placeLimitOrder', kind: 'status', status: 429, headers });
  const outcome = await orders.ticket(ticket).placeLimit(LIMIT, options);
  expect(outcome).toMatchObject(unsent('RATE_LIMITED'));
  // No request waits so long for its answer either.
  expect(Math.max(...timers)).toBeLessThan(70_000);
});

test('an answer without an outcome leaves the order in doubt, and is asked for again', async () => {
  const answers = ['{"data":{"order":null}}', '{"data":{}}'];
  const minute = minuteOf(phone, 6);
  const { orders, sent } = phone.open(
    {},
    {
      fetch: async (input, init) => {
        const response = await minute.environment.fetch(input, init);
        const isOrder = String(init?.body).includes('order: place');
        const text = isOrder ? answers.shift() : undefined;
        return text === undefined ? response : new Response(text);
      },
    },
  );
  const ticket = orders.ticket(PATIENT);
  expect(await ticket.place(buying('no outcome'))).toMatchObject(ACCEPTED);
  expect(sent).toHaveLength(3);
  answers.push(...Array(100).fill('{"data":{"order":null}}'));
  const { ticket: options, withinMs } = minute;
  expect(await orders.ticket(options).place(buying('none'), { withinMs })).toMatchObject(
    unknown('PROTOCOL', { retryable: false, message: 'The answer has no outcome.' }),
  );
  expect(phone.app.sandbox.orders()).toHaveLength(2);
});

test('a refusal of every token ends after the second one', async () => {
  const { orders, sent } = phone.open({ renew: () => phone.signIn('demo@example.com') });
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 401 });
  expect(await orders.ticket(PATIENT).place(buying('refused'))).toMatchObject(
    unsent('UNAUTHENTICATED'),
  );
  expect(sent).toHaveLength(2);
});

test('an order whose answers are all lost is unknown, never unsent', async () => {
  const { environment, ticket: options, withinMs } = minuteOf(phone, 3);
  const { orders } = phone.open({}, environment);
  phone.line.next.push(...Array(100).fill('answer-lost'));
  const ticket = orders.ticket(options);
  expect(await ticket.place(buying('lost'), { withinMs })).toMatchObject(unknown('NETWORK'));
  expect(phone.app.sandbox.orders()).toHaveLength(1);
  expect(phone.storage.entries.size).toBe(1);
  phone.line.next.length = 0;
  expect(await ticket.place(buying('lost'))).toMatchObject({ status: 'accepted', replayed: true });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
  expect(phone.storage.entries.size).toBe(0);
});

test('a lost request stays in doubt where the server says later that it took none, until its key is closed', async () => {
  const { orders } = phone.open();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 403 });
  // The first request may still be on its way when the second one is refused.
  phone.line.next.push('lost');
  expect(await orders.ticket(PATIENT).place(buying('doubtful'))).toMatchObject(unsent('VOIDED'));
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a phone that slept while it waited does not send hours later', async () => {
  const { orders, sent } = phone.open();
  const pause = { status: 429, headers: { 'retry-after': '1' }, times: 1 };
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'status', ...pause });
  const placing = orders.ticket().place(buying('overslept'));
  await eventually(() => expect(phone.app.sandbox.calls('openPosition')).toBe(1));
  phone.clockMs = 2 * 3_600_000;
  expect(await placing).toMatchObject(unsent('RATE_LIMITED'));
  expect(sent).toHaveLength(1);
});

test('an order under way when the client is disposed is unknown, and no timer is left', async () => {
  const { orders, core, sent, timers } = phone.open();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 500 });
  const placing = orders.ticket().place(buying('disposed'));
  await eventually(() => expect(sent).toHaveLength(1));
  core.dispose();
  expect(await placing).toMatchObject(unknown('DISPOSED'));
  expect(timers.size).toBe(0);
  expect(phone.storage.entries.size).toBe(1);
  expect(await orders.ticket().place(buying('after'))).toMatchObject(unsent('DISPOSED'));
  expect(timers.size).toBe(0);
});
