import { describe, expect, test } from 'vitest';
import { type TokenState, TRANSITIONS } from '../../../src/domain/auth/token-state.ts';

const CLAIMED = { account: '1001', expiresAtMs: null };
const UNKNOWN: TokenState = { evidence: null, refusal: null };

const say = {
  signed: (state: TokenState) => TRANSITIONS.signed(state, {}, CLAIMED),
  accepted: (proves: 'login' | 'token' | 'group') => (state: TokenState) =>
    TRANSITIONS.accepted(state, { proves, group: 'vip', time: 7, atMs: 70 }, CLAIMED),
  refused: (onTrial: string | null) => (state: TokenState) =>
    TRANSITIONS.refused(state, { onTrial, time: 9, atMs: 90 }, CLAIMED),
  catalogForbidden: (group: string) => (state: TokenState) =>
    TRANSITIONS.catalogForbidden(state, { group }, CLAIMED),
  sessionForbidden: (state: TokenState) => TRANSITIONS.sessionForbidden(state, {}, CLAIMED),
  groupFailed: (state: TokenState) => TRANSITIONS.groupFailed(state, { atMs: 50 }, CLAIMED),
};

/** What counts in favour of a token, and against it, in words. */
function words({ evidence, refusal }: TokenState): string {
  const { isSigned, acceptedAtMs = -Infinity, ownsLogin, snapshotGroup } = evidence ?? {};
  const { catalogAtMs, snapshotAtMs = -Infinity, groupFailedAtMs = -Infinity } = evidence ?? {};
  return [
    isSigned && 'signed',
    acceptedAtMs > 0 && 'accepted',
    ownsLogin && 'owner',
    snapshotAtMs > 0 && `snapshot:${snapshotGroup}`,
    ...[...(catalogAtMs?.keys() ?? [])].map((group) => `catalog:${group}`),
    groupFailedAtMs > 0 && 'group-failed',
    refusal && `refused${refusal.isSigned ? ':signed' : ''}`,
    ...[...(refusal?.trialsAtMs.keys() ?? [])].map((about) => `tried:${about}`),
  ]
    .filter(Boolean)
    .join(' ');
}

type Step = (state: TokenState) => TokenState;
const after = (...steps: readonly Step[]) =>
  words(steps.reduce((state, step) => step(state), UNKNOWN));

describe('what is known of a token after', () => {
  const snapshot = say.accepted('login');
  test.each<readonly [string, readonly Step[]]>([
    ['signed', [say.signed]],
    ['accepted', [say.accepted('token')]],
    ['accepted owner snapshot:vip', [snapshot]],
    ['catalog:vip', [say.accepted('group')]],
    ['refused', [say.refused(null)]],
    ['refused', [snapshot, say.accepted('group'), say.refused(null)]],
    // A signature that counted once, or would, is remembered as one that counts no more.
    ['refused:signed', [say.signed, say.refused(null)]],
    ['refused:signed', [say.refused(null), say.signed]],
    ['refused:signed', [say.signed, say.refused(null), say.refused(null)]],
    // The gateway may accept it again.
    ['accepted owner snapshot:vip refused', [say.refused(null), snapshot]],
    ['refused tried:proof', [say.refused('proof')]],
    ['refused tried:proof tried:setValue', [say.refused('proof'), say.refused('setValue')]],
    ['refused tried:proof', [say.refused('proof'), say.refused(null)]],
    ['accepted refused', [say.refused('proof'), say.accepted('token')]],
    ['catalog:vip refused tried:proof', [say.refused('proof'), say.accepted('group')]],
    [
      'accepted owner catalog:vip',
      [snapshot, say.accepted('group'), say.sessionForbidden, say.accepted('group')],
    ],
    ['accepted owner', [snapshot, say.accepted('group'), say.catalogForbidden('vip')]],
    [
      'accepted owner snapshot:vip catalog:vip',
      [snapshot, say.accepted('group'), say.catalogForbidden('other')],
    ],
    ['', [say.catalogForbidden('vip')]],
    ['', [say.sessionForbidden]],
    ['group-failed', [say.groupFailed]],
  ])('%s', (known, steps) => {
    expect(after(...steps)).toBe(known);
  });
});

test('a group that the catalog does not name is no evidence', () => {
  const event = { proves: 'group', group: null, time: 7, atMs: 70 } as const;
  expect(TRANSITIONS.accepted(UNKNOWN, event, CLAIMED)).toEqual(UNKNOWN);
});
