import type { RequestEnvironment } from './environment.ts';
import { LONGEST_MS } from './request/deadline.ts';

/** What requests need, by what browsers and Node have. */
export function requestEnvironment(): RequestEnvironment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    now: () => Date.now(),
    uptime: () => performance.now(),
    random: () => Math.random(),
    after(ms, task) {
      // Beyond the longest timer the platform would run the task at once.
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), LONGEST_MS));
      return () => clearTimeout(timer);
    },
  };
}
