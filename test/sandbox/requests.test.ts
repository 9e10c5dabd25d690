import { expect, test } from 'vitest';
import { firstCallOf } from '../../src/gateway/operation-traits.ts';
import { errorBody } from '../../src/gateway/operations/conventions.ts';
import { OPERATION_NAMES, OPERATIONS, READ_NAMES } from '../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../operations/cases.ts';
import { openSandbox } from './sandbox-client.ts';

const text = expect.any(String);
const refusal = { error: text, message: text, details: expect.any(Object) };

// The demo user's request has an empty object as its body, so it lacks a field if the operation has any.
test.each(
  OPERATION_NAMES.map((name) => {
    const { statuses, errors } = OPERATION_CASES[name];
    return { name, op: OPERATIONS[name].number, statuses, errors };
  }),
)('op $op refuses a missing token and a missing field: $name', async (expected) => {
  await using place = await openSandbox();
  const answers = [];
  for (const client of [place.anonymous, place.as('demo@example.com')])
    answers.push(await client.ask(expected.name));
  expect(answers.map(({ status }) => status)).toEqual(expected.statuses);
  for (const { status, body } of answers)
    if (status !== 200) expect(body).toEqual(errorBody(expected.errors, refusal));
});

test.each(
  READ_NAMES.filter((name) => /\{(login|group)\}/.test(firstCallOf(OPERATIONS[name]).path)),
)('%s refuses another user’s path', async (name) => {
  await using place = await openSandbox();
  const { errors } = OPERATION_CASES[name];
  const answer = await place.as('pro@example.com').ask(name);
  expect(answer.status).toBe(403);
  expect(answer.body).toEqual(errorBody(errors, refusal));
});
