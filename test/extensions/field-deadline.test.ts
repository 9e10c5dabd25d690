import { once } from 'node:events';
import { expect, test } from 'vitest';
import { withinDeadline } from '../../src/extensions/field-deadline.ts';

const DEADLINE = { extension: 'team', operation: 'team.field', ms: 20, isWrite: false };

test('a list that never ends is not read on after the deadline', async () => {
  const left = new EventTarget();
  async function* endless() {
    try {
      for (;;) yield await new Promise((resolve) => setTimeout(resolve, 1, 'item'));
    } finally {
      left.dispatchEvent(new Event('left'));
    }
  }
  const isLeft = once(left, 'left');
  const value = withinDeadline(DEADLINE, null, endless);
  await expect(value).rejects.toMatchObject({ kind: 'timeout', operation: 'team.field' });
  await isLeft;
});

test.each(['message', 'stack'])('an error whose %s is no text is one that says so', (member) => {
  const broken = Object.defineProperty(new Error('x'), member, { value: 7 });
  const fail = () => {
    throw broken;
  };
  expect(() => withinDeadline(DEADLINE, null, fail)).toThrow(
    /^an error whose details cannot be read: /,
  );
});
