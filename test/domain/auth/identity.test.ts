import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ClaimNames } from '../../../src/domain/auth/claims.ts';
import { Identity, type IdentityOptions } from '../../../src/domain/auth/identity.ts';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { UnauthenticatedError } from '../../../src/domain/auth/token-errors.ts';
import { accountOf, lasting, type OwnReads } from '../../../src/domain/auth/viewer.ts';
import { ACCOUNT, LOGIN } from '../../../src/lib/account.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { toToken } from '../../../src/lib/limits/request-caller.ts';
import { loginNamed } from '../../support/accounts.ts';
import { collectGarbage } from '../../support/heap.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { unsignedToken } from '../../support/tokens.ts';

const NOW_MS = Date.UTC(2026, 0, 5, 12);
const NOW_SECONDS = NOW_MS / 1000;

function setUp({
  maxTokens = 9,
  ...options
}: Partial<IdentityOptions> & { maxTokens?: number } = {}) {
  const clock = createScriptedClock(NOW_MS);
  const logicalClock = new LogicalClock();
  const ledger = new ProofLedger({ clock, logicalClock, proofMs: 1_000, maxTokens });
  const claimNames = { login: 'login', group: 'group' };
  const identity = new Identity({ clock, ledger, claimNames, verify: null, ...options });
  return {
    clock,
    ledger,
    identify: (text: string | null, own?: OwnReads) =>
      identity.identify({ token: text === null ? null : toToken(text) }, own),
  };
}

function identified(claims: Record<string, unknown>, claimNames?: ClaimNames) {
  return setUp(claimNames && { claimNames }).identify(unsignedToken(claims));
}

describe('the login', () => {
  const INVALID_STRINGS = ['', '1 ', '1\n', '-1', '1.0', '1/../2', '１２３', '1234567890123456'];
  const OTHER_INVALID = [-1, 1.5, 1e15, null, [], { toString: '1' }, undefined];

  test('is one to fifteen digits, as a string or a number', () => {
    for (const login of ['123456789012345', 999_999_999_999_999, '007', 0]) {
      expect(identified({ login })).toMatchObject({ [LOGIN]: String(login) });
    }
    for (const login of [...INVALID_STRINGS, ...OTHER_INVALID]) {
      const identify = () => identified({ login, group: 'standard' });
      expect(identify, JSON.stringify(login)).toThrow(UnauthenticatedError);
    }
  });

  test('is read only from the configured claim', () => {
    const names = { login: 'https://example.com/login', group: 'grp' };
    const claims = { 'https://example.com/login': 5, login: 6, grp: 'a', group: 'b' };
    expect(identified(claims, names)).toMatchObject({ [LOGIN]: '5', claimedGroup: 'a' });
    expect(() => identified({ login: 6 }, names)).toThrow(UnauthenticatedError);
    // A claim is not read from the prototype chain.
    const inherited = { login: 'constructor', group: '__proto__' };
    expect(() => identified({ login: 1 }, inherited)).toThrow(UnauthenticatedError);
  });
});

test('the same login with different forwarded headers means different accounts', () => {
  const login = loginNamed('1');
  const tenants = [undefined, { pairs: [], digest: 'a' }, { pairs: [], digest: 'b' }];
  expect(new Set(tenants.map((forwarded) => accountOf(login, forwarded))).size).toBe(3);
});

test('the group is a string; an empty one counts as missing', () => {
  for (const group of ['standard', '', 5]) {
    const claimedGroup = group === 'standard' ? group : null;
    expect(identified({ login: 1, group })).toMatchObject({ claimedGroup });
  }
});

test('the expiry of a known token is checked on each request, with half a minute’s leeway', async () => {
  const { clock, identify } = setUp();
  const token = unsignedToken({ login: 1, exp: NOW_SECONDS + 10 });
  expect(identify(token)).toMatchObject({ expiresAtMs: NOW_MS + 10_000 });
  // The ten seconds and the leeway of thirty seconds end one millisecond later.
  await clock.advance(39_999);
  expect(identify(token)).toMatchObject({ [LOGIN]: '1' });
  await clock.advance(1);
  expect(() => identify(token)).toThrow('expired');
});

test('a token of the greatest length is accepted', () => {
  const token = unsignedToken({ login: 1 }).padEnd(8_192, 'x');
  expect(setUp().identify(token)).toMatchObject({ [LOGIN]: '1' });
});

// `e30` is the token header `{}` in base64url.
test.each([
  null,
  '',
  unsignedToken({ login: 1 }).padEnd(8_193, 'x'),
  'garbage',
  'a.b.c',
  `${unsignedToken({ login: 1 })}x.y`,
  `e30.${Buffer.from('[1]').toString('base64url')}.`,
  `e30.${Buffer.from('null').toString('base64url')}.`,
  `e30.${Buffer.from('{"login":1').toString('base64url')}.`,
  `e30.${Buffer.from('{"login":1,"exp":1e999}').toString('base64url')}.`,
  unsignedToken({ login: 1, exp: String(NOW_SECONDS + 60) }),
  unsignedToken({ login: 1, exp: null }),
  `e30.${Buffer.from('{"login":1}').toString('base64url')}.\r\nx-evil: 1`,
])('the token %j is refused', (token) => {
  expect(() => setUp().identify(token)).toThrow(UnauthenticatedError);
});

test('the error of an invalid token does not quote it', () => {
  const canary = Buffer.from('{"login": canary').toString('base64url');
  try {
    void setUp().identify(`e30.${canary}.`);
    expect.unreachable();
  } catch (error) {
    expect(String((error as Error).stack)).not.toContain('canary');
    expect((error as Error).cause).toBeUndefined();
  }
});

test('a token has no proof until it is verified, even if it is sent repeatedly', async () => {
  const verdicts = [false, false, true];
  const { ledger, identify } = setUp({ verify: async () => verdicts.shift() ?? false });
  for (const isVerified of [false, false, true, true]) {
    const viewer = await identify(unsignedToken({ login: 1, group: 'standard' }));
    expect(ledger.account(viewer) !== null).toBe(isVerified);
    expect(ledger.group(viewer) !== null).toBe(isVerified);
    expect(ledger.isAccepted(viewer)).toBe(isVerified);
  }
});

test('a token is verified once, even if the ledger has evicted it', async () => {
  let checks = 0;
  const verify = async () => {
    checks += 1;
    return true;
  };
  const { ledger, identify } = setUp({ maxTokens: 1, verify });
  for (const login of [1, 2, 1]) {
    const viewer = await identify(unsignedToken({ login }));
    expect(ledger.account(viewer)?.[ACCOUNT]).toBe(String(login));
  }
  expect(checks).toBe(2);
});

test('each refused token is reported with its fault', async () => {
  const reported: string[] = [];
  const { identify } = setUp({
    verify: () => Promise.reject(new UnauthenticatedError('the token was refused', 'key')),
    onRefused: ({ fault }) => void reported.push(fault),
  });
  for (const text of [null, unsignedToken({}), unsignedToken({ login: 7 })]) {
    // The function is async, because some faults are thrown at once and others are a rejection.
    const identified = async () => identify(text);
    await expect(identified()).rejects.toThrow(UnauthenticatedError);
  }
  // A missing token is not reported.
  expect(reported).toEqual(['login', 'key']);
});

test('the viewer of a subscription keeps no reference to its first request', async () => {
  const { identify } = setUp();
  const begin = async () => {
    const own: OwnReads = { plannedSession: () => null, plannedProofs: () => [] };
    const viewer = await identify(unsignedToken({ login: 5 }), own);
    return { lastingViewer: lasting(viewer), request: new WeakRef(own) };
  };
  const { lastingViewer, request } = await begin();
  // A WeakRef keeps its target alive until the turn of the event loop ends that made or read it.
  await nextTurn();
  collectGarbage();
  expect(request.deref()).toBeUndefined();
  expect(lastingViewer).toMatchObject({ [LOGIN]: '5' });
});
