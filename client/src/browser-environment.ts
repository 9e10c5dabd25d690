import type { Environment, Lifecycle } from './environment.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The environment of browsers and of Node, by what the platform has. */
export function browserEnvironment(): Environment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    WebSocket: typeof globalThis.WebSocket === 'function' ? globalThis.WebSocket : null,
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    randomId,
    after(ms, task) {
      // Beyond the longest timer the platform would run the task at once.
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
      return () => clearTimeout(timer);
    },
    lifecycle: pageLifecycle(),
  };
}

function randomId(): string {
  // Only pages of a secure origin have `randomUUID`.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function pageLifecycle(): Lifecycle {
  const page = typeof document === 'undefined' ? null : document;
  const isVisible = () => page?.visibilityState !== 'hidden';
  // React Native has a `window` that takes no listeners.
  const target = typeof globalThis.addEventListener === 'function' ? globalThis : null;
  return {
    get isVisible() {
      return isVisible();
    },
    get isOnline() {
      // Node and React Native have a `navigator` that does not say it.
      return globalThis.navigator?.onLine !== false;
    },
    onReturn(listener) {
      const shown = () => {
        if (isVisible()) listener();
      };
      page?.addEventListener('visibilitychange', shown);
      target?.addEventListener('online', listener);
      target?.addEventListener('pageshow', listener);
      return () => {
        page?.removeEventListener('visibilitychange', shown);
        target?.removeEventListener('online', listener);
        target?.removeEventListener('pageshow', listener);
      };
    },
    onHide(listener) {
      const hidden = () => {
        if (!isVisible()) listener();
      };
      page?.addEventListener('visibilitychange', hidden);
      return () => page?.removeEventListener('visibilitychange', hidden);
    },
  };
}
