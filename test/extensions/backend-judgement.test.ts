import { expect, test } from 'vitest';
import { createJudgement } from '../../src/extensions/backend-judgement.ts';
import { backendSettings } from '../../src/extensions/backend-settings.ts';

const settings = backendSettings({ name: 'side', url: 'http://side', timeoutMs: 20, reads: {} });

function answered(status: number) {
  return {
    sent: true,
    answered: true,
    status,
    headers: { 'content-type': 'application/json' },
    bytes: Buffer.from('{}'),
    logicalTime: 1,
    sentAtMs: 0,
  } as const;
}

test('a write whose judge does not settle within the backend’s time-out has an unknown outcome', async () => {
  const { write } = createJudgement('guest', settings, () => new Promise(() => {}));
  const outcome = write('side.add', answered(200));
  await expect(outcome).rejects.toMatchObject({ kind: 'unknown', operation: 'side.add' });
});

test('a judge may find that a write has no result', async () => {
  const { write } = createJudgement('guest', settings, () => null);
  expect(await write('side.add', answered(200))).toBe(null);
});
