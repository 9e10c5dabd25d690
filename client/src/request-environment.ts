import type { RequestEnvironment } from './environment.ts';
import { MAX_MS } from './request/deadline.ts';

/** The functions that requests need, as browsers and Node provide them. */
export function requestEnvironment(): RequestEnvironment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    // A worker of the browser's has no window, and one user.
    lifecycle: {
      get isOnline() {
        return isOnline();
      },
    },
    isServer: typeof window === 'undefined' && !('importScripts' in globalThis),
    after(ms, task) {
      // A delay beyond the longest timer would make the platform run the task at once.
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), MAX_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Whether the platform knows of no reason why the network would not be there. */
export function isOnline(): boolean {
  // Node and React Native have a `navigator` that does not say it.
  return globalThis.navigator?.onLine !== false;
}
