import { expect, test, vi } from 'vitest';
import { browserEnvironment } from '../src/browser-environment.ts';
import { orderKey, timeOfKey } from '../src/orders/order-key.ts';

function openPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const events = new EventTarget();
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events));
  const { lifecycle } = browserEnvironment();
  const reported: string[] = [];
  const leave = [
    lifecycle.onReturn(() => void reported.push('return')),
    lifecycle.onHide(() => void reported.push('hide')),
  ];
  return {
    lifecycle,
    reported: () => reported.splice(0).join(),
    leave: () => {
      for (const one of leave) one();
    },
    become(visibilityState: 'visible' | 'hidden') {
      page.visibilityState = visibilityState;
      page.dispatchEvent(new Event('visibilitychange'));
    },
    dispatch: (name: string, persisted = false) =>
      void events.dispatchEvent(Object.assign(new Event(name), { persisted })),
  };
}

test('a page reports when it is hidden and when it returns, until the listener ends', () => {
  const { lifecycle, reported, leave, become, dispatch } = openPage();
  expect(lifecycle.isVisible).toBe(true);
  become('hidden');
  expect([reported(), lifecycle.isVisible]).toEqual(['hide', false]);
  become('visible');
  expect([reported(), lifecycle.isVisible]).toEqual(['return', true]);
  dispatch('online');
  dispatch('pageshow', true);
  expect(reported()).toBe('return,return');
  // A page that has just loaded was not hidden before.
  dispatch('pageshow');
  expect(reported()).toBe('');
  leave();
  become('hidden');
  become('visible');
  dispatch('online');
  dispatch('pageshow', true);
  expect(reported()).toBe('');
});

test('without a page the app is always visible, and online unless the platform reports that it is not', () => {
  const { lifecycle } = browserEnvironment();
  expect([lifecycle.isVisible, lifecycle.isOnline]).toEqual([true, true]);
  lifecycle.onReturn(() => expect.unreachable())();
  lifecycle.onHide(() => expect.unreachable())();
  vi.stubGlobal('navigator', { onLine: false });
  expect(lifecycle.isOnline).toBe(false);
});

test('ids are random even on a page of an insecure origin, and without `crypto` an error names the option to set', () => {
  const { getRandomValues } = crypto;
  const ids = () => [1, 2].map(() => browserEnvironment().randomId());
  const expectKeys = ([first = '', second = '']: readonly string[]) => {
    for (const id of [first, second]) expect(timeOfKey(orderKey(id, 5))).toBe(5);
    expect(second).not.toBe(first);
  };
  expectKeys(ids());
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) });
  expectKeys(ids());
  vi.stubGlobal('crypto', undefined);
  expect(() => browserEnvironment().randomId()).toThrow('environment: { randomId }');
});

test('a wait that is too long for a timer of the platform does not end early', async () => {
  const { after } = browserEnvironment();
  let ran = false;
  const cancels = [Number.POSITIVE_INFINITY, 2 ** 31, 1e12].map((ms) =>
    after(ms, () => {
      ran = true;
    }),
  );
  await new Promise<void>((resolve) => after(50, resolve));
  expect(ran).toBe(false);
  for (const cancel of cancels) cancel();
});
