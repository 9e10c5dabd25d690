import type { Environment } from './environment.ts';
import { MAX_MS } from './request/deadline.ts';

/** The functions that browsers and Node share. */
export function platformFunctions(): Pick<
  Environment,
  'fetch' | 'now' | 'uptime' | 'random' | 'after' | 'isServer'
> {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    // A browser's worker has no window, and one user.
    isServer: typeof window === 'undefined' && !('importScripts' in globalThis),
    after(ms, task) {
      // A delay beyond the longest timer would make the platform run the task at once.
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), MAX_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Whether the platform reports no loss of the network. */
export function isOnline(): boolean {
  // Node and React Native have a `navigator` without `onLine`.
  return globalThis.navigator?.onLine !== false;
}
