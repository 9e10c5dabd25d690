import { expect, test } from 'vitest';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { TOKEN_TEXT } from '../../../src/lib/account.ts';
import { toToken } from '../../../src/lib/limits/request-caller.ts';
import { atMost } from '../../support/steps.ts';
import { unsignedToken } from '../../support/tokens.ts';
import { viewerBut, viewerOf } from '../viewer.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';

test('a subscription whose client does not read ends as soon as its token is refused', async () => {
  const { clock, gateway, viewer, feeds, prove, watch } = createLiveBench();
  const [phone, tablet] = [viewer('phone'), viewer('tablet')];
  const events = watch(phone);
  const first = events.next();
  await clock.advance(500);
  await first;
  gateway.fault = ({ token }) =>
    token[TOKEN_TEXT] === 'token of phone' ? gatewayError('unauthenticated') : null;
  await clock.advance(2_000);
  expect(feeds.running).toEqual([]);
  await expect(events.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  // The feed stays for ten seconds without subscribers, and is then closed.
  prove(tablet);
  expect(feeds.shown(tablet)).not.toBeNull();
  await clock.advance(10_000);
  expect(feeds.shown(tablet)).toBeNull();
});

test('a token without proof gets no new list', async () => {
  const proofMs = 3_000;
  const { clock, gateway, ledger, viewer, watch } = createLiveBench({ proofMs });
  const names = Array.from({ length: 12 }, (_, index) => `device ${index}`);
  let emitted = 0;
  for (const name of names) {
    const device = viewer(name);
    const stream = watch(device, { follows: 'list' });
    void (async () => {
      let last: unknown;
      for await (const { upserted: list } of atMost(1_000, stream)) {
        // A token without proof may get its last list again, marked as delayed.
        if (list === last) continue;
        last = list;
        emitted += 1;
        // The token has a proof whenever it gets a new list.
        expect(ledger.account(device), name).not.toBeNull();
      }
    })();
  }
  await clock.advance(1_000);
  for (let second = 0; second < 30; second += 1) {
    gateway.set(LOGIN, [position('a', { priceCurrent: second })]);
    await clock.advance(1_000);
  }
  // If the twelve tokens only took turns, with one poll a second, each would poll every twelve seconds, but its proof lasts for
  // three. So tokens without proof poll in addition, and all tokens get nearly every one of the 30 lists.
  expect(emitted).toBeGreaterThanOrEqual(names.length * 29);
  // Yet there are fewer polls than if each token polled in each second.
  expect(gateway.polls.length).toBeLessThan(names.length * 30);
});

test('a token without proof polls first', async () => {
  const { clock, gateway, viewer, followChanges, prove } = createLiveBench({ proofMs: 1_500 });
  const devices = ['idle', 'one', 'other'].map((name) => viewer(name));
  for (const device of devices) followChanges(device);
  const [, ...busy] = devices;
  for (let times = 0; times < 24; times += 1) {
    // Calls of these devices renew their proofs, but only polls renew that of the idle device.
    await clock.advance(500);
    for (const device of busy) prove(device);
  }
  // The first poll was sent when there was only one token.
  const pollers = gateway.polls.slice(1).map(({ token }) => token);
  const idleAt = pollers.flatMap((token, index) => (token === 'token of idle' ? [index] : []));
  // In its turn it would be each third.
  const gaps = idleAt.slice(1).map((index, before) => index - (idleAt[before] ?? 0));
  expect(gaps.length).toBeGreaterThan(3);
  expect(new Set(gaps)).toEqual(new Set([2]));
});

test('a token refused by another operation gets no event more', async () => {
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
  // A token that subscribes before its expiry has no leeway.
  [1_000, 1_000],
  // A token that subscribes after its expiry is valid until the leeway for wrong clocks is over: 30 seconds after the expiry.
  [0, 30_000],
  // It expired 29 seconds ago, so one second of the leeway is left.
  [-29_000, 1_000],
])(
  'the subscriptions of a token that expires in %i ms end after %i ms',
  async (leftMs, endsAfterMs) => {
    const { clock, followChanges } = createLiveBench();
    const exp = (clock.date() + leftMs) / 1000;
    const follower = followChanges(viewerOf(unsignedToken({ exp })));
    await clock.advance(endsAfterMs - 1);
    expect(follower.hasEnded).toBe(false);
    await clock.advance(1);
    expect(follower.error).toMatchObject({ code: 'UNAUTHENTICATED' });
  },
);

test.each([2, 3])(
  '%i tokens poll in turn, and a token polls no more once any operation has refused it',
  async (count) => {
    const { clock, gateway, ledger, viewer, followChanges } = createLiveBench();
    for (let index = 0; index < count; index += 1) followChanges(viewer(`device ${index}`));
    await clock.advance(10_000);
    // The first poll was sent when there was only one token.
    const tokens = gateway.polls.slice(1).map(({ token }) => token);
    expect(tokens.length).toBeGreaterThanOrEqual(9);
    // Any `count` polls in a row were sent with different tokens.
    for (let end = count; end <= tokens.length; end += 1) {
      expect(new Set(tokens.slice(end - count, end)).size).toBe(count);
    }
    const lastToken = gateway.polls.at(-1)?.token ?? '';
    ledger.refused(viewer(lastToken.replace('token of ', '')));
    const before = gateway.polls.length;
    await clock.advance(5_000);
    const later = gateway.polls.slice(before).map(({ token }) => token);
    expect(later.length).toBeGreaterThan(2);
    expect(later).not.toContain(lastToken);
  },
);

test('polls with the token of a request do not depend on this request', async () => {
  const { clock, gateway, viewer, followChanges } = createLiveBench();
  const phone = viewer('phone');
  const own = { plannedSession: () => null, plannedProofs: () => [] };
  const requestViewer = viewerBut(phone, { own, receipt: () => {} });
  const callers: Viewer[] = [];
  gateway.fault = (caller) => {
    callers.push(caller);
    return null;
  };
  followChanges(requestViewer);
  await clock.advance(1_000);
  expect(callers[0]?.token).toEqual(toToken('token of phone'));
  expect(callers[0]?.receipt).not.toBe(requestViewer.receipt);
  // With the request's planned reads, a proof for the feed would wait for these reads.
  expect(callers[0]?.own).toBeUndefined();
});
