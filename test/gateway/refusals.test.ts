import { describe, expect, test } from 'vitest';
import { ACKNOWLEDGED } from '../../src/gateway/operations/acknowledged.ts';
import { errorBody } from '../../src/gateway/operations/conventions.ts';
import { GRANT } from '../../src/gateway/operations/login.ts';
import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import { OPERATION_CASES } from '../operations/cases.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { pathOf } from '../support/ask-gateway.ts';
import { openClient, wordFor } from './open-client.ts';

type Group = 'read' | 'write' | 'order' | 'login' | 'forgotPassword';

function groupOf(name: OperationName): Group {
  return name === 'login' || name === 'forgotPassword' ? name : OPERATIONS[name].effect;
}

const same = (word: string) => ({
  read: word,
  write: word,
  order: word,
  login: word,
  forgotPassword: word,
});
const aboutTheRequest = { ...same('rejected'), read: 'refused' };
const inDoubt = { ...same('unknown'), read: 'unavailable', login: 'unavailable' };
const nonsense = { ...same('unknown'), read: 'contract', login: 'contract' };
const aboutTheToken = (word: string) => ({
  ...same(word),
  login: 'rejected',
  forgotPassword: 'rejected',
});

const saysFailure = SUBMITTED.names.success in errorBody('submit', { error: 'NO' });

type Outcomes = Readonly<Record<Group, string>>;

/** The outcomes of statuses, by the group of the operation. */
const OUTCOMES: readonly (readonly [statuses: readonly number[], Outcomes])[] = [
  [[204, 301, 302, 303, 304, 307, 308], nonsense],
  [[400, 404, 405, 413, 422], aboutTheRequest],
  // The answer to an earlier order may also be a 409, so an order's says that it failed.
  [[409], { ...aboutTheRequest, order: saysFailure ? 'rejected' : 'unknown' }],
  [[401], aboutTheToken('unauthenticated')],
  [[403], aboutTheToken('forbidden')],
  [[408], { ...same('unknown'), read: 'timeout', login: 'timeout' }],
  [[429], same('rate-limited')],
  // With a 499 a proxy reports that it gave up the call, so the gateway may still carry out a write.
  [[499], { ...aboutTheRequest, write: 'unknown', order: 'unknown' }],
  [[500, 502, 503, 504], inDoubt],
];
const STATUSES = OUTCOMES.flatMap(([statuses, outcomes]) =>
  statuses.map((status) => [status, outcomes] as const),
);

test.each(OPERATION_NAMES)('%s has the right outcome for each status', async (name) => {
  await using place = await openSandbox();
  await using open = openClient(place.sandbox.url);
  const words = new Map<number, string>();
  for (const [status] of STATUSES) {
    // Following this redirect would make another call.
    const headers = { location: pathOf('getCustomerId') };
    place.sandbox.fail({ operation: name, kind: 'status', status, headers, times: 1 });
    words.set(status, await wordFor(OPERATION_CASES[name].call(open.client, place.caller())));
  }
  const expected = STATUSES.map(([status, outcomes]) => [status, outcomes[groupOf(name)]]);
  expect(Object.fromEntries(words)).toEqual(Object.fromEntries(expected));
  // Each call was sent once, and no redirect was followed.
  expect(place.sandbox.calls(name)).toBe(STATUSES.length);
  expect(place.sandbox.requests()).toHaveLength(STATUSES.length);
});

describe('a 429', () => {
  test.each([
    ['seconds', '7', 7],
    ['nothing', undefined, null],
    ['nonsense', 'soon', null],
    ['a day', '86400', 3_600],
    ['a date in the past', new Date(0).toUTCString(), 0],
  ])('whose Retry-After is %s (%j) asks for a pause of %j seconds', async (_, header, seconds) => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url);
    place.sandbox.fail({
      operation: '*',
      kind: 'status',
      status: 429,
      ...(header !== undefined && { headers: { 'retry-after': header } }),
    });
    for (const name of OPERATION_NAMES) {
      await expect(OPERATION_CASES[name].call(open.client, place.caller())).rejects.toMatchObject({
        kind: 'rate-limited',
        retryAfterSeconds: seconds,
      });
    }
  });
});

test('a small write answered 503 is unknown, and its error has the time of Retry-After', async () => {
  const headers = { 'retry-after': '7' };
  const unknown = { kind: 'unknown', retryAfterSeconds: 7 };
  await expect(answered('setValue', { status: 503, headers })).rejects.toMatchObject(unknown);
});

const { success: SUCCESS } = ACKNOWLEDGED.names;

test.each([
  ['success: false', { [SUCCESS]: false }, 'rejected'],
  ['success: true', { [SUCCESS]: true }, 'acknowledged'],
  ['an empty object', {}, 'unknown'],
  ['success: "true"', { [SUCCESS]: 'true' }, 'unknown'],
  ['a list', [{ [SUCCESS]: true }], 'unknown'],
  ['null', 'null', 'unknown'],
])('a small write answered 200 with %s has the outcome of its body', async (_, body, word) => {
  expect(await wordFor(answered('setValue', { body }))).toBe(word);
});

test('a request for a password mail that is refused by a 200 is rejected', async () => {
  const body = errorBody('sign-in', { error: 'USER_NOT_FOUND' });
  expect(await wordFor(answered('forgotPassword', { body }))).toBe('rejected');
});

const { accessToken: TOKEN } = GRANT.names;
const GRANTED = { accessToken: 'a', refreshToken: null, passkey: null };
const NO = errorBody('sign-in', { error: 'NO' });

test.each([
  [
    { [TOKEN]: 'a', more: 1 },
    { outcome: 'granted', grant: GRANTED },
  ],
  [
    { ...NO, [TOKEN]: 'a', [GRANT.names.refreshToken]: 7 },
    { outcome: 'granted', grant: GRANTED },
  ],
  [NO, { outcome: 'rejected', refusal: { error: 'NO' } }],
  [{ [TOKEN]: '' }, { kind: 'contract' }],
  [{ [TOKEN]: 7 }, { kind: 'contract' }],
  [[], { kind: 'contract' }],
])('a sign-in answered 200 with %j has the outcome of its body', async (body, expected) => {
  expect(await answered('login', { body }).catch((error) => error)).toMatchObject(expected);
});

/** Calls an operation to which the gateway answers 200, or as the fault says. */
async function answered(operation: OperationName, fault: Partial<Fault>): Promise<unknown> {
  await using place = await openSandbox();
  await using open = openClient(place.sandbox.url);
  place.sandbox.fail({ operation, kind: 'status', status: 200, ...fault });
  return await OPERATION_CASES[operation].call(open.client, place.caller());
}
