import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { createJudgement } from '../../src/extensions/backend-judgement.ts';
import { backendSettings } from '../../src/extensions/backend-settings.ts';

const settings = backendSettings({ name: 'side', url: 'http://side', timeoutMs: 20, reads: {} });

function answered(status: number, body = '{}') {
  return {
    sent: true,
    answered: true,
    status,
    headers: { 'content-type': 'application/json' },
    bytes: Buffer.from(body),
    logicalTime: 1,
    sentAtMs: 0,
  } as const;
}

test('a write whose judge does not settle within the backend’s time-out has an unknown outcome', async () => {
  const { write } = createJudgement('team', settings, () => new Promise(() => {}));
  const outcome = write('side.add', answered(200));
  await expect(outcome).rejects.toMatchObject({ kind: 'unknown', operation: 'side.add' });
});

test('a judge may find that a write has no result', async () => {
  const { write } = createJudgement('team', settings, () => null);
  expect(await write('side.add', answered(200))).toBe(null);
});

test.each<[status: number, code: string | undefined, isRefusal: boolean]>([
  [400, 'BAD_USER_INPUT', true],
  [403, 'FORBIDDEN', true],
  [409, 'DECLARED', true],
  [409, 'OF_NOBODY', false],
  [409, 'INTERNAL', false],
  [409, undefined, false],
  [408, 'BAD_USER_INPUT', false],
  [200, 'BAD_USER_INPUT', false],
])(
  'a judge that throws at %i of a write an error with the code %s',
  async (status, code, isRefusal) => {
    const thrown = new GraphQLError('no', { extensions: { code } });
    const judge = () => {
      throw thrown;
    };
    const { write } = createJudgement('team', settings, judge, { DECLARED: {} });
    const refusal = { extensions: { code } };
    const unknown = { described: { extensions: { code: 'OUTCOME_UNKNOWN' }, fault: thrown } };
    const outcome = write('side.add', answered(status));
    await expect(outcome).rejects.toMatchObject(isRefusal ? refusal : unknown);
  },
);

test.each([
  new GraphQLError('no', {
    extensions: { code: 'FORBIDDEN' },
    originalError: new Error('a fault'),
  }),
  Object.assign(new Error('no'), { extensions: { code: 'FORBIDDEN' } }),
])('a judge’s fault refuses no write, whatever code it has', async (thrown) => {
  const judge = () => {
    throw thrown;
  };
  const { write } = createJudgement('team', settings, judge);
  const unknown = { described: { extensions: { code: 'OUTCOME_UNKNOWN' }, fault: thrown } };
  await expect(write('side.add', answered(403))).rejects.toMatchObject(unknown);
});

test('a judge is not asked about a backend’s own failures, nor about its rate limit', async () => {
  const { write } = createJudgement('team', settings, () => 'judged');
  expect(await write('side.add', answered(499))).toBe('judged');
  await expect(write('side.add', answered(500))).rejects.toMatchObject({ kind: 'unknown' });
  await expect(write('side.add', answered(429))).rejects.toThrow();
});

test('a refusal without words names the backend', async () => {
  const { write } = createJudgement('team', settings);
  await expect(write('side.add', answered(409))).rejects.toThrow('side refuses this.');
});

test.each([401, 403])('%i for our own credentials is no fault of the user', async (status) => {
  const own = createJudgement('team', settings);
  await expect(own.read('side.item', answered(status))).rejects.toMatchObject({ kind: 'contract' });
  await expect(own.write('side.add', answered(status))).rejects.toMatchObject({ kind: 'contract' });
});
