import { expect, test, vi } from 'vitest';
import { browserEnvironment } from '../src/browser-environment.ts';

function openPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const events = new EventTarget();
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events));
  const { lifecycle } = browserEnvironment();
  const heard: string[] = [];
  const leave = [
    lifecycle.onReturn(() => void heard.push('return')),
    lifecycle.onHide(() => void heard.push('hide')),
  ];
  return {
    lifecycle,
    heard: () => heard.splice(0).join(),
    leave: () => {
      for (const one of leave) one();
    },
    turn(visibilityState: 'visible' | 'hidden') {
      page.visibilityState = visibilityState;
      page.dispatchEvent(new Event('visibilitychange'));
    },
    happen: (name: string, persisted = false) =>
      void events.dispatchEvent(Object.assign(new Event(name), { persisted })),
  };
}

test('a page reports when it is hidden and when it returns, until the listener ends', () => {
  const { lifecycle, heard, leave, turn, happen } = openPage();
  expect(lifecycle.isVisible).toBe(true);
  turn('hidden');
  expect([heard(), lifecycle.isVisible]).toEqual(['hide', false]);
  turn('visible');
  expect([heard(), lifecycle.isVisible]).toEqual(['return', true]);
  happen('online');
  happen('pageshow', true);
  expect(heard()).toBe('return,return');
  // The page has loaded, and was never hidden.
  happen('pageshow');
  expect(heard()).toBe('');
  leave();
  turn('hidden');
  turn('visible');
  happen('online');
  happen('pageshow', true);
  expect(heard()).toBe('');
});

test('without a page the app is always visible, and online unless the platform says otherwise', () => {
  const { lifecycle } = browserEnvironment();
  expect([lifecycle.isVisible, lifecycle.isOnline]).toEqual([true, true]);
  lifecycle.onReturn(() => expect.unreachable())();
  lifecycle.onHide(() => expect.unreachable())();
  vi.stubGlobal('navigator', { onLine: false });
  expect(lifecycle.isOnline).toBe(false);
});

test('ids are random, also on a page of an insecure origin, and without `crypto` the error names what to give', () => {
  const { getRandomValues } = crypto;
  const ids = () => [1, 2].map(() => browserEnvironment().randomId());
  for (const id of ids()) expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) });
  const [first, second] = ids();
  expect(first).toMatch(/^[\da-f]{32}$/);
  expect(second).not.toBe(first);
  vi.stubGlobal('crypto', undefined);
  expect(() => browserEnvironment().randomId()).toThrow('environment: { randomId }');
});

test('no wait is cut short by being too long', async () => {
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
