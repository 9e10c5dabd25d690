import { describe, expect, test } from 'vitest';
import {
  accepted,
  catalogForbidden,
  refused,
  sessionForbidden,
  signed,
  type TokenEvent,
  type TokenState,
} from '../../../src/domain/auth/token-state.ts';

const CLAIMED = { account: '1001', expiresAtMs: null };
const UNKNOWN: TokenState = { evidence: null, refusal: null };

const heard = (event: TokenEvent) => (state: TokenState) => event(state, CLAIMED);
const say = {
  signed: heard(signed),
  accepted: (proves: 'login' | 'token' | 'group') => heard(accepted(proves, 'vip', 70)),
  refused: (onTrial: string | null) => heard(refused(9, 90, onTrial)),
  catalogForbidden: (group: string) => heard(catalogForbidden(group)),
  sessionForbidden: heard(sessionForbidden),
};

/** What counts in favour of a token, and against it, in words. */
function words({ evidence, refusal }: TokenState): string {
  const { isSigned, acceptedAtMs = -Infinity, ownsLogin, snapshotGroup } = evidence ?? {};
  const { catalogAtMs, snapshotAtMs = -Infinity } = evidence ?? {};
  return [
    isSigned && 'signed',
    acceptedAtMs > 0 && 'accepted',
    ownsLogin && 'owner',
    snapshotAtMs > 0 && `snapshot:${snapshotGroup}`,
    ...[...(catalogAtMs?.keys() ?? [])].map((group) => `catalog:${group}`),
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
  ])('%s', (known, steps) => {
    expect(after(...steps)).toBe(known);
  });
});

test('a group that the catalog does not name is no evidence', () => {
  expect(accepted('group', null, 70)(UNKNOWN, CLAIMED)).toEqual(UNKNOWN);
});
