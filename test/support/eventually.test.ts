import { expect, test } from 'vitest';
import { eventually } from './eventually.ts';

const SOON = { withinMs: 50 };

test('a condition that does not come to hold is named', async () => {
  const isServing = () => false;
  await expect(eventually(isServing, SOON)).rejects.toThrow(
    /^The condition does not hold\nin 0\.\d s and \d+ tries of: \(\) => false$/,
  );
});

test('a last failure keeps what its assertion has to say', async () => {
  const failure = await eventually(() => expect(1).toBe(2), SOON).catch((error) => error);
  expect(failure).toMatchObject({ actual: 1, expected: 2 });
  expect(failure.message).toMatch(/tries of: \(\) => expect\(1\)\.toBe\(2\)$/);
});

test('a check that never settles ends as well', async () => {
  const answer = () => new Promise<boolean>(() => {});
  await expect(eventually(answer, SOON)).rejects.toThrow(/has not settled\nin .* s and 1 tries of/);
});

test('what comes is returned, however often it failed before', async () => {
  let tries = 0;
  const value = await eventually(() => {
    tries += 1;
    if (tries < 3) throw new Error('not yet');
    return tries;
  });
  expect(value).toBe(3);
});
