import { describe, expect, test } from 'vitest';
import { ProofLedger, type ProofLedgerOptions } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { ACCOUNT } from '../../../src/lib/account.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { clientOf } from '../../../src/lib/limits/request-caller.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

const PROOF_MS = 300_000;
const logicalClock = new LogicalClock();

function setUp(more: Partial<ProofLedgerOptions> = {}) {
  // The clock starts at 0. So the test fails if "never" is stored as a time of 0, because this time would count as recent.
  const clock = createScriptedClock(0);
  const ledger = new ProofLedger({ clock, logicalClock, proofMs: PROOF_MS, ...more });
  /** Each function reports a call that begins now and is answered with 200. */
  const answers = {
    /** Op 10, which proves the login and names the group. */
    session: (viewer: Viewer, group: string | null = 'standard') =>
      ledger.answered(viewer, 'getSession', ledger.beginCall(), group),
    /** Another read, which proves only that the token is valid. */
    other: (viewer: Viewer) => ledger.answered(viewer, 'getCustomerId', ledger.beginCall()),
    /** Op 1, which proves access to a group's catalog. */
    catalog: (viewer: Viewer, group = 'standard') =>
      ledger.answered(viewer, 'getAllTickers', ledger.beginCall(), group),
  };
  return { clock, ledger, answers };
}

const demo = viewerOf('demo');

describe('account data', () => {
  test('opens with a proof of the login, and closes with a 401 or when the last answer is old', async () => {
    const { clock, ledger, answers } = setUp();
    answers.other(demo);
    expect(ledger.account(demo)).toBeNull();
    answers.session(demo);
    await clock.advance(PROOF_MS - 1);
    expect(ledger.account(demo)).not.toBeNull();
    await clock.advance(1);
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.isAccepted(demo)).toBe(false);
    // The login was proved before, so any read that proves the token is enough now.
    answers.other(demo);
    expect(ledger.account(demo)?.[ACCOUNT]).toBe('1001');
    // After a 401 another read is not enough.
    ledger.refused(demo);
    answers.other(demo);
    expect(ledger.account(demo)).toBeNull();
    answers.session(demo);
    expect(ledger.account(demo)).not.toBeNull();
  });

  test('does not open with a 200 to a call from before the 401', () => {
    const { ledger } = setUp();
    const early = ledger.beginCall();
    ledger.refused(demo);
    ledger.answered(demo, 'getSession', early, 'standard');
    ledger.answered(demo, 'getCustomerId', early);
    ledger.answered(demo, 'getAllTickers', early, 'standard');
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.group(demo)).toBeNull();
    expect(ledger.isAccepted(demo)).toBe(false);
  });
});

test('limits are charged to the account while its token is proved and has not expired', async () => {
  const { clock, ledger, answers } = setUp();
  const chargedClient = ({ token }: Viewer) => clientOf({ tokenStatus: ledger.tokenStatus(token) });
  answers.other(demo);
  expect(chargedClient(demo).kind).toBe('address');
  answers.session(demo);
  expect(chargedClient(demo)).toEqual({ kind: 'account', key: 'account 1001', account: '1001' });
  ledger.refused(demo);
  expect(chargedClient(demo).kind).toBe('address');
  const expiring = viewerOf('expiring', { expiresAtMs: clock.date() + 1_000 });
  const lasting = viewerOf('lasting');
  for (const viewer of [expiring, lasting]) {
    answers.session(viewer);
    expect(chargedClient(viewer).kind).toBe('account');
  }
  await clock.advance(1_000);
  expect(chargedClient(expiring).kind).toBe('address');
  // Reads stay allowed, because by the gateway's clock the token may still be valid.
  expect(ledger.account(expiring)).not.toBeNull();
  await clock.advance(PROOF_MS - 1_000);
  expect(chargedClient(lasting).kind).toBe('address');
});

describe('a group’s catalog', () => {
  test('opens with the snapshot’s group, or with op 1’s answer for the claimed group', () => {
    const { ledger, answers } = setUp();
    const falseClaim = viewerOf('false claim', { claimedGroup: 'vip' });
    ledger.forbidden(falseClaim, 'vip');
    answers.session(falseClaim, 'standard');
    expect(ledger.groupOf(falseClaim)).toBe('standard');
    expect(ledger.group(falseClaim)?.group).toBe('standard');
    // The token `demo` claims the group `standard`.
    answers.other(demo);
    answers.catalog(demo, 'vip');
    expect(ledger.group(demo)).toBeNull();
    answers.catalog(demo, 'standard');
    expect(ledger.group(demo)?.group).toBe('standard');
  });

  test('does not open with op 1’s 200 alone, which can come from a cache that never saw the token', async () => {
    const { clock, ledger, answers } = setUp();
    answers.catalog(demo);
    expect(ledger.group(demo)).toBeNull();
    answers.other(demo);
    expect(ledger.group(demo)?.group).toBe('standard');
    await clock.advance(PROOF_MS - 1);
    answers.catalog(demo);
    await clock.advance(1);
    // The catalog's answer is recent, but the other read's answer is old.
    expect(ledger.group(demo)).toBeNull();
  });

  test('closes when its evidence is old, even if other calls are accepted', async () => {
    const { clock, ledger, answers } = setUp();
    for (const prove of [answers.session, answers.catalog]) {
      answers.other(demo);
      prove(demo);
      await clock.advance(PROOF_MS - 1);
      answers.other(demo);
      expect(ledger.group(demo)?.group).toBe('standard');
      await clock.advance(1);
      answers.other(demo);
      expect(ledger.group(demo)).toBeNull();
    }
  });

  test.each<[string, (ledger: ProofLedger) => void]>([
    ['a 401', (ledger) => ledger.refused(demo)],
    ['op 1’s 403', (ledger) => ledger.forbidden(demo, 'standard')],
    ['op 10’s 403', (ledger) => ledger.forbidden(demo, null)],
  ])('closes with %s, whether op 10 or op 1 had opened it', (_what, close) => {
    for (const name of ['session', 'catalog'] as const) {
      const { ledger, answers } = setUp();
      answers.other(demo);
      answers[name](demo);
      expect(ledger.group(demo)).not.toBeNull();
      close(ledger);
      expect(ledger.group(demo)).toBeNull();
    }
  });
});

describe('a token whose signature was verified', () => {
  test('has its signed group unless a recent snapshot names another', async () => {
    const { clock, ledger, answers } = setUp();
    ledger.verified(demo);
    answers.session(demo, 'vip');
    expect(ledger.group(demo)?.group).toBe('vip');
    await clock.advance(PROOF_MS);
    expect(ledger.group(demo)?.group).toBe('standard');
    const groupless = viewerOf('groupless', { claimedGroup: null });
    ledger.verified(groupless);
    answers.session(groupless, 'vip');
    await clock.advance(PROOF_MS);
    expect(ledger.group(groupless)).toBeNull();
    // A verified token needs no gateway call, even if the last call is long ago.
    await clock.advance(10 * PROOF_MS);
    expect(ledger.account(demo)?.[ACCOUNT]).toBe('1001');
    expect(ledger.isAccepted(demo)).toBe(true);
  });

  test('loses the signature’s proof permanently with a 401, and is then proved like an unverified token', () => {
    const { ledger, answers } = setUp();
    ledger.verified(demo);
    ledger.refused(demo);
    ledger.verified(demo);
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.group(demo)).toBeNull();
    answers.session(demo);
    expect(ledger.account(demo)).not.toBeNull();
  });
});

test('an acceptance or a refusal is reported only if it differs from the previous answer', () => {
  const reported: string[] = [];
  const { ledger } = setUp({ onJudged: (verdict) => void reported.push(verdict) });
  const accept = () => ledger.answered(demo, 'getCustomerId', ledger.beginCall());
  const refuse = () => ledger.refused(demo);
  for (const judge of [accept, accept, refuse, refuse, accept, refuse]) judge();
  expect(reported.splice(0)).toEqual(['accepted', 'refused', 'accepted', 'refused']);
  const verified = viewerOf('verified');
  ledger.verified(verified);
  for (const viewer of [verified, verified, viewerOf('unknown')]) ledger.refused(viewer);
  expect(reported).toEqual(['refused', 'refused']);
});

test('evicting a token loses the proof of this token only', () => {
  const { ledger } = setUp({ maxTokens: 2 });
  for (const token of ['a', 'b', 'c']) {
    ledger.answered(viewerOf(token), 'getSession', ledger.beginCall(), 'standard');
  }
  const opened = ['a', 'b', 'c'].map((token) => ledger.account(viewerOf(token)) !== null);
  expect(opened).toEqual([false, true, true]);
});

describe('after the refusal of a token was evicted from the ledger', () => {
  test('its signature opens nothing, whether it was verified before or after the refusal', () => {
    const { ledger } = setUp({ maxTokens: 2 });
    const late = viewerOf('late');
    ledger.verified(demo);
    // After the second refusal the ledger still knows that the signature of `demo` was verified.
    for (const viewer of [demo, demo, late]) ledger.refused(viewer);
    // Three accepted tokens evict evidence, but no refusal.
    for (const token of ['a', 'b', 'c']) ledger.verified(viewerOf(token));
    for (const viewer of [demo, late]) ledger.verified(viewer);
    expect([demo, late].map((viewer) => ledger.account(viewer))).toEqual([null, null]);
    expect(ledger.account(viewerOf('c'))).not.toBeNull();
    const other = setUp({ maxTokens: 2 }).ledger;
    other.refused(demo);
    other.verified(demo);
    // Three more refusals evict the refusal of `demo`.
    for (const token of ['a', 'b', 'c']) other.refused(viewerOf(token, { expiresAtMs: 0 }));
    other.verified(demo);
    expect(other.account(demo)).toBeNull();
  });

  test('no token’s signature opens anything until the refused token has expired', async () => {
    const { clock, ledger } = setUp({ maxTokens: 2 });
    const expiresAtMs = clock.now() + 10 * PROOF_MS;
    const lasting = viewerOf('lasting', { expiresAtMs });
    ledger.verified(lasting);
    ledger.refused(lasting);
    ledger.refused(lasting);
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token, { expiresAtMs: 0 }));
    ledger.verified(lasting);
    expect(ledger.account(lasting)).toBeNull();
    // An acceptance by the gateway still counts.
    ledger.answered(lasting, 'getSession', ledger.beginCall(), 'standard');
    expect(ledger.account(lasting)).not.toBeNull();
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).toBeNull();
    await clock.advance(10 * PROOF_MS - 2);
    // The expiry is checked by the date, so it is a second later once the date was set back.
    clock.setDate(-1_000);
    await clock.advance(1_001);
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).toBeNull();
    await clock.advance(1);
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).not.toBeNull();
  });

  test('the signatures of other tokens still count if the refused token was forged', () => {
    const { ledger } = setUp({ maxTokens: 2 });
    const forged = ['a', 'b', 'c'].map((token) => viewerOf(token, { expiresAtMs: null }));
    // Their signatures were never verified, so their refusals can be forgotten.
    for (const viewer of [...forged, ...forged]) ledger.refused(viewer);
    ledger.verified(demo);
    expect(ledger.account(demo)).not.toBeNull();
  });

  test('the answer to a call from before the refusal opens nothing', () => {
    const { ledger } = setUp({ maxTokens: 2 });
    const before = ledger.beginCall();
    ledger.refused(demo);
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token));
    ledger.answered(demo, 'getSession', before, 'standard');
    expect(ledger.account(demo)).toBeNull();
  });
});

test('no token has the status of another', () => {
  const { ledger, answers } = setUp();
  answers.session(demo);
  const forged = viewerOf('forged', { tokenStatus: ledger.tokenStatus(demo.token) });
  expect(ledger.tokenStatus(forged.token).isAccepted).toBe(false);
  expect(ledger.account(forged)).toBeNull();
});
