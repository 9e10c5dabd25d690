import { expect, test } from 'vitest';
import {
  accepted,
  catalogForbidden,
  refused,
  signed,
  type TokenEvent,
  type TokenState,
} from '../../../src/domain/auth/token-state.ts';

const UNKNOWN: TokenState = { evidence: null, refusal: null };

function after(...events: readonly TokenEvent[]): TokenState {
  const claimed = { account: '1001', expiresAtMs: null };
  return events.reduce((state, event) => event(state, claimed), UNKNOWN);
}

test('a group that the catalog does not name, and one that is forbidden, are no evidence', () => {
  expect(after(accepted('group', null, 70))).toEqual(UNKNOWN);
  expect(after(catalogForbidden('vip'))).toEqual(UNKNOWN);
});

test('a signature that counted once, or would, is remembered as one that counts no more', () => {
  const refusal = refused(9, 90, null);
  expect(after(refusal)).toMatchObject({ evidence: null, refusal: { isSigned: false } });
  for (const events of [
    [signed, refusal],
    [refusal, signed],
    [signed, refusal, refusal],
  ]) {
    const { evidence, refusal: noted } = after(...events);
    expect([evidence?.isSigned ?? false, noted?.isSigned]).toEqual([false, true]);
  }
});
