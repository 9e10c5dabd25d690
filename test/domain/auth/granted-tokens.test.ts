import { expect, test } from 'vitest';
import { GrantedTokens } from '../../../src/domain/auth/granted-tokens.ts';
import { tokenHash } from '../../../src/lib/token-hash.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

test('a token counts as just granted for a minute, and no other does', async () => {
  const clock = createScriptedClock(0);
  const granted = new GrantedTokens(clock);
  granted.add('first');
  expect(granted.has(tokenHash('first'))).toBe(true);
  expect(granted.has(tokenHash('another'))).toBe(false);
  // The token is kept by its hash alone.
  expect(granted.has('first')).toBe(false);
  await clock.advance(59_999);
  expect(granted.has(tokenHash('first'))).toBe(true);
  await clock.advance(1);
  expect(granted.has(tokenHash('first'))).toBe(false);
  granted.add('first');
  expect(granted.has(tokenHash('first'))).toBe(true);
  expect(granted.byteSize).toBeGreaterThan(0);
});
