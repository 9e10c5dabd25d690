import { describe, expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { createProofLedger, type ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { heldBytes } from '../../support/heap.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerBut, viewerOf } from '../viewer.ts';

const PROOF_MS = 300_000;
const KEPT_MS = 60_000;
const logicalClock = new LogicalClock();

function setUp() {
  // A process that has just started: nothing is as recent as its clock’s 0.
  const clock = createScriptedClock(0);
  const ledger = createProofLedger({ clock, logicalClock, proofMs: PROOF_MS, keptMs: KEPT_MS });
  /** A gateway call that begins and is answered immediately. */
  const answers = {
    session: (viewer: Viewer, group: string | null = 'standard') =>
      ledger.answered(viewer, 'getSession', ledger.beginCall(), group),
    other: (viewer: Viewer) => ledger.answered(viewer, 'getCustomerId', ledger.beginCall()),
    catalog: (viewer: Viewer, group = 'standard') =>
      ledger.answered(viewer, 'getAllTickers', ledger.beginCall(), group),
  };
  return { clock, ledger, answers };
}

const demo = viewerOf('demo');

describe('account data', () => {
  test('is closed to a claim', () => {
    const { ledger } = setUp();
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.isAccepted(demo)).toBe(false);
  });

  test('closes when no call was accepted for a while, and opens with the next one', async () => {
    const { clock, ledger, answers } = setUp();
    answers.session(demo);
    await clock.advance(PROOF_MS - 1);
    expect(ledger.account(demo)).not.toBeNull();
    await clock.advance(1);
    expect(ledger.account(demo)).toBeNull();
    // Ownership of the login was proved once; any read proves that the token is still valid.
    answers.other(demo);
    expect(ledger.account(demo)?.account).toBe('1001');
  });

  test('closes immediately with a 401, and a later acceptance is not enough to open it', () => {
    const { ledger, answers } = setUp();
    answers.session(demo);
    ledger.refused(demo);
    expect(ledger.account(demo)).toBeNull();
    answers.other(demo);
    expect(ledger.account(demo)).toBeNull();
    answers.session(demo);
    expect(ledger.account(demo)).not.toBeNull();
  });

  test('is not opened by a 200 whose call began before the 401', () => {
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

describe('what limits are charged to', () => {
  const ofDemo = (ledger: ProofLedger) =>
    ledger.clientOf({ token: { text: 'demo', hash: demo.tokenHash } });

  test('is the account while the token is proved, and half of it for each token', async () => {
    const { clock, ledger, answers } = setUp();
    expect(ofDemo(ledger).kind).toBe('address');
    answers.other(demo);
    expect(ofDemo(ledger).kind).toBe('address');
    answers.session(demo);
    expect(ofDemo(ledger)).toEqual({
      kind: 'account',
      key: 'account 1001',
      account: '1001',
      parts: [
        { key: `token ${demo.tokenHash}`, share: 0.5 },
        { key: 'account 1001', share: 1 },
      ],
    });
    await clock.advance(PROOF_MS);
    expect(ofDemo(ledger).kind).toBe('address');
  });

  test('is no account after a 401, nor past the time of the token', async () => {
    const { clock, ledger, answers } = setUp();
    answers.session(demo);
    ledger.refused(demo);
    expect(ofDemo(ledger).kind).toBe('address');
    const mortal = viewerBut(demo, { expiresAtMs: clock.date() + 1_000 });
    const other = setUp();
    other.answers.session(mortal);
    expect(ofDemo(other.ledger).kind).toBe('account');
    await other.clock.advance(1_000);
    expect(ofDemo(other.ledger).kind).toBe('address');
    // Clocks differ: what may be read is another question.
    expect(other.ledger.account(mortal)).not.toBeNull();
  });
});

describe('a group’s catalog', () => {
  test('opens by the snapshot’s group, whatever the claim says', () => {
    const { ledger, answers } = setUp();
    const liar = viewerOf('liar', { claimedGroup: 'vip' });
    answers.session(liar, 'standard');
    expect(ledger.groupOf(liar)).toBe('standard');
    expect(ledger.group(liar)?.group).toBe('standard');
  });

  test('opens by op 1’s own answer for that group, and for no other', () => {
    const { ledger, answers } = setUp();
    answers.catalog(demo, 'vip');
    expect(ledger.group(demo)).toBeNull();
    answers.catalog(demo, 'standard');
    expect(ledger.group(demo)?.group).toBe('standard');
  });

  test('closes when its evidence is old, however often other calls are accepted', async () => {
    const { clock, ledger, answers } = setUp();
    for (const prove of [answers.session, answers.catalog]) {
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
    ['op 1’s 403', (ledger) => ledger.catalogForbidden(demo, 'standard')],
    ['op 10’s 403', (ledger) => ledger.sessionForbidden(demo)],
  ])('is not kept after %s, whichever call had opened it', (_what, end) => {
    for (const name of ['session', 'catalog'] as const) {
      const { ledger, answers } = setUp();
      answers[name](demo);
      end(ledger);
      expect(ledger.group(demo)).toBeNull();
      expect(ledger.keptGroup(demo)).toBeNull();
    }
  });
});

describe('a token that was verified here', () => {
  test('needs no call of the gateway, however old the last one is', async () => {
    const { clock, ledger } = setUp();
    ledger.verified(demo);
    await clock.advance(10 * PROOF_MS);
    expect(ledger.account(demo)?.account).toBe('1001');
    expect(ledger.group(demo)?.group).toBe('standard');
    expect(ledger.isAccepted(demo)).toBe(true);
  });

  test('is of its signed group, unless a snapshot that is young enough names another', async () => {
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
  });

  test('loses that permanently with a 401, and is then proved like any other', () => {
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

test('a verdict is told when it is news: the first acceptance, and each refusal after one', () => {
  const told: string[] = [];
  const ledger = createProofLedger({
    clock: createScriptedClock(),
    logicalClock,
    proofMs: PROOF_MS,
    onJudged: (verdict, { login }) => void told.push(`${verdict} ${login}`),
  });
  const accept = () => ledger.answered(demo, 'getCustomerId', ledger.beginCall());
  const said = () => told.splice(0).join();
  accept();
  accept();
  expect(said()).toBe('accepted 1001');
  ledger.refused(demo);
  ledger.refused(demo);
  expect(said()).toBe('refused 1001');
  accept();
  ledger.refused(demo);
  expect(said()).toBe('accepted 1001,refused 1001');
  const verified = viewerOf('verified', { login: '7' });
  ledger.verified(verified);
  ledger.refused(verified);
  ledger.refused(verified);
  ledger.refused(viewerOf('unknown', { login: '8' }));
  expect(said()).toBe('refused 7,refused 8');
});

test('a refusal on trial stands for five seconds', async () => {
  const { clock, ledger } = setUp();
  ledger.refused(demo, 'getSession');
  await clock.advance(4_999);
  expect(ledger.isTried(demo, 'getCustomerId')).toBe(true);
  await clock.advance(1);
  expect(ledger.isTried(demo, 'getCustomerId')).toBe(false);
});

test('evicting a token loses its proof, and no other token’s', () => {
  const clock = createScriptedClock();
  const ledger = createProofLedger({ clock, logicalClock, proofMs: PROOF_MS, maxTokens: 2 });
  for (const token of ['a', 'b', 'c']) {
    ledger.answered(viewerOf(token), 'getSession', ledger.beginCall(), 'standard');
  }
  const opened = ['a', 'b', 'c'].map((token) => ledger.account(viewerOf(token)) !== null);
  expect(opened).toEqual([false, true, true]);
});

describe('however many tokens come after a token that was refused', () => {
  const few = () => {
    const clock = createScriptedClock();
    const ledger = createProofLedger({ clock, logicalClock, proofMs: PROOF_MS, maxTokens: 2 });
    return { clock, ledger };
  };

  test('its signature opens nothing again', () => {
    const { ledger } = few();
    ledger.verified(demo);
    ledger.refused(demo);
    ledger.refused(demo);
    for (const token of ['a', 'b', 'c']) ledger.verified(viewerOf(token));
    ledger.verified(demo);
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.account(viewerOf('c'))).not.toBeNull();
  });

  test('and are refused as well, its signature opens nothing before it has expired', async () => {
    const { clock, ledger } = few();
    const expiresAtMs = clock.now() + 10 * PROOF_MS;
    const lasting = viewerOf('lasting', { expiresAtMs });
    ledger.verified(lasting);
    ledger.refused(lasting);
    ledger.refused(lasting);
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token, { expiresAtMs: 0 }));
    ledger.verified(lasting);
    expect(ledger.account(lasting)).toBeNull();
    // The gateway's word counts at once.
    ledger.answered(lasting, 'getSession', ledger.beginCall(), 'standard');
    expect(ledger.account(lasting)).not.toBeNull();
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).toBeNull();
    await clock.advance(10 * PROOF_MS - 2);
    // By the date, which may be set back.
    clock.setDate(-1_000);
    await clock.advance(1_001);
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).toBeNull();
    await clock.advance(1);
    ledger.verified(viewerOf('another'));
    expect(ledger.account(viewerOf('another'))).not.toBeNull();
  });

  test('and were forged, the signatures of others count as before', () => {
    const { ledger } = few();
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token, { expiresAtMs: null }));
    ledger.verified(demo);
    expect(ledger.account(demo)).not.toBeNull();
  });

  test('its signature opens nothing where it was verified after the refusal alone', () => {
    const { ledger } = few();
    ledger.refused(demo);
    ledger.verified(demo);
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token, { expiresAtMs: 0 }));
    ledger.verified(demo);
    expect(ledger.account(demo)).toBeNull();
  });

  test('a call from before its refusal opens nothing', () => {
    const { ledger } = few();
    const before = ledger.beginCall();
    ledger.refused(demo);
    for (const token of ['a', 'b', 'c']) ledger.refused(viewerOf(token));
    ledger.answered(demo, 'getSession', before, 'standard');
    expect(ledger.account(demo)).toBeNull();
  });
});

test('the refusals of forged tokens count at the memory that they take', () => {
  const { ledger } = setUp();
  const before = heldBytes();
  for (let at = 0; at < 20_000; at += 1) ledger.refused(viewerOf(`forged ${at}`), 'getSession');
  const held = heldBytes() - before;
  expect(held / ledger.byteSize).toBeGreaterThan(0.7);
  expect(held / ledger.byteSize).toBeLessThan(1.4);
});
