import type { Environment } from './environment.ts';
import { MAX_MS } from './request/deadline.ts';

/** The functions that browsers and Node share. */
export function platformFunctions(): Pick<Environment, 'fetch' | 'isServer'> & TimeFunctions {
  return {
    ...timeFunctions(),
    fetch: (input, init) => globalThis.fetch(input, init),
    // A browser's worker has no window, and one user.
    isServer: typeof window === 'undefined' && !('importScripts' in globalThis),
  };
}

export type TimeFunctions = Pick<Environment, 'now' | 'uptime' | 'random' | 'after'>;

/** The platform's clocks, timers and random numbers. */
export function timeFunctions(): TimeFunctions {
  return {
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    after(ms, task) {
      // A delay beyond the longest timer would make the platform run the task at once.
      const timer = setTimeout(task, Math.min(ms, MAX_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Whether the platform reports no loss of the network. */
export function isOnline(): boolean {
  // Node and React Native have a `navigator` without `onLine`.
  return globalThis.navigator?.onLine !== false;
}
