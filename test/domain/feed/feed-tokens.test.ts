import { expect, test } from 'vitest';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { toToken } from '../../../src/lib/token.ts';
import { iterated } from '../../support/iterated.ts';
import { atMost } from '../../support/steps.ts';
import { viewerBut } from '../viewer.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';

test('a subscription that is not being read ends as soon as its token is refused', async () => {
  const { clock, gateway, viewer, feeds, prove } = createLiveBench();
  const [phone, tablet] = [viewer('phone'), viewer('tablet')];
  const stream = feeds.watch(prove(phone), phone);
  const stalled = iterated(stream);
  const first = stalled.next();
  await clock.advance(500);
  await first;
  gateway.fault = ({ token }) =>
    token.text === 'token of phone' ? gatewayError('unauthenticated') : null;
  await clock.advance(2_000);
  expect(feeds).toMatchObject({ polled: 0, subscriptions: 0 });
  await expect(stalled.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  // The feed lingers, and is then closed.
  prove(tablet);
  expect(feeds.shown(tablet)).not.toBeNull();
  await clock.advance(10_000);
  expect(feeds.shown(tablet)).toBeNull();
});

test('a token without proof gets no new events', async () => {
  const proofMs = 3_000;
  const { clock, gateway, ledger, viewer, feeds, prove } = createLiveBench({ proofMs });
  const names = Array.from({ length: 12 }, (_, index) => `device ${index}`);
  let emitted = 0;
  for (const name of names) {
    const asking = viewer(name);
    const stream = feeds.watch(prove(asking), asking, { follows: 'list' });
    void (async () => {
      let last: unknown;
      for await (const { upserted: list } of atMost(1_000, iterated(stream))) {
        if (list === last) continue;
        last = list;
        emitted += 1;
        expect(ledger.account(asking), name).not.toBeNull();
      }
    })();
  }
  await clock.advance(1_000);
  for (let second = 0; second < 30; second += 1) {
    gateway.set(LOGIN, [position('a', { priceCurrent: second })]);
    await clock.advance(1_000);
  }
  // Twelve tokens cannot all be proved within three polls, so tokens without proof poll out of turn.
  expect(emitted).toBeGreaterThanOrEqual(12 * 29);
  expect(gateway.polls.length).toBeLessThan(30 * 12);
});

test('a token that is refused by another operation gets no new events, and its subscriptions end with its next poll', async () => {
  const { clock, gateway, ledger, viewer, followChanges } = createLiveBench();
  const phone = viewer('phone');
  const follower = followChanges(phone);
  const other = followChanges(viewer('tablet'));
  await clock.advance(2_000);
  ledger.refused(phone);
  gateway.set(LOGIN, [position('a')]);
  await clock.advance(2_000);
  const openedFor = ({ events }: typeof follower) => events.flatMap(({ opened }) => opened);
  expect([other, follower].map(openedFor)).toEqual([['a'], []]);
  expect(follower.error).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(other.hasEnded).toBe(false);
});

test.each([
  [1_000, 1_000],
  // Thirty seconds of leeway for clocks that differ.
  [0, 30_000],
  [-29_000, 1_000],
])(
  'the subscriptions of a token that expires in %i ms end after %i ms',
  async (leftMs, livesMs) => {
    const { clock, viewer, followChanges } = createLiveBench();
    const follower = followChanges(viewer('phone', { expiresAtMs: clock.date() + leftMs }));
    await clock.advance(livesMs - 1);
    expect(follower.hasEnded).toBe(false);
    await clock.advance(1);
    expect(follower.error).toMatchObject({ code: 'UNAUTHENTICATED' });
  },
);

test.each([2, 3])(
  '%i tokens poll in turn, which renews their proofs; a token without proof polls out of turn',
  async (count) => {
    const { clock, gateway, ledger, viewer, followChanges } = createLiveBench();
    for (let each = 0; each < count; each += 1) followChanges(viewer(`device ${each}`));
    await clock.advance(10_000);
    // The first poll was sent when there was only one token.
    const tokens = gateway.polls.slice(1).map(({ token }) => token);
    expect(tokens.length).toBeGreaterThanOrEqual(9);
    for (let at = count; at <= tokens.length; at += 1) {
      expect(new Set(tokens.slice(at - count, at)).size).toBe(count);
    }
    const last = gateway.polls.at(-1)?.token ?? '';
    ledger.refused(viewer(last.replace('token of ', '')));
    const before = gateway.polls.length;
    await clock.advance(1_000);
    expect(gateway.polls[before]?.token).toBe(last);
  },
);

test('the end of the request that brought a token does not abort its polls', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const phone = viewer('phone');
  const request = new AbortController();
  const own = { plannedSession: () => null, plannedProofs: () => [] };
  const asking = viewerBut(phone, { own, signal: request.signal, receipt: () => {} });
  const viewers: Viewer[] = [];
  gateway.fault = (polling) => {
    viewers.push(polling);
    return null;
  };
  followChanges(asking);
  await clock.advance(1_000);
  expect(viewers[0]?.token).toEqual(toToken('token of phone'));
  expect(viewers[0]?.signal).toBeUndefined();
  expect(viewers[0]?.receipt).toBeUndefined();
  // The request's planned reads are left out too: a proof for the feed must not wait for them.
  expect(viewers[0]?.own).toBeUndefined();
});
