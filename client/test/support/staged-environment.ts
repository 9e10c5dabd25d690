import { WebSocket } from 'ws';
import type { Environment } from '../../src/environment.ts';

/** The platform's own, with counted timers and an app that a test hides and shows. */
export interface StagedEnvironment extends Environment {
  /** The number of timers and listeners that are waiting. */
  readonly pending: number;
  show(): void;
  hide(): void;
}

/** The time of a staged environment: the real one, or a clock that the test sets. */
export interface ManualTime {
  now(): number;
  uptime(): number;
  after(ms: number, task: () => void): () => void;
}

const realTime: ManualTime = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

export function createStagedEnvironment(time: ManualTime = realTime): StagedEnvironment {
  const timers = new Set<object>();
  const returnListeners = new Set<() => void>();
  const hideListeners = new Set<() => void>();
  let isVisible = true;
  const listen = (listeners: Set<() => void>) => (listener: () => void) => {
    const own = () => listener();
    listeners.add(own);
    return () => void listeners.delete(own);
  };
  return {
    fetch: globalThis.fetch,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    now: () => time.now(),
    uptime: () => time.uptime(),
    random: () => Math.random(),
    randomId: () => crypto.randomUUID(),
    after(ms, task) {
      const timer = {};
      timers.add(timer);
      const cancel = time.after(ms, () => {
        timers.delete(timer);
        task();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    lifecycle: {
      get isVisible() {
        return isVisible;
      },
      onReturn: listen(returnListeners),
      onHide: listen(hideListeners),
    },
    get pending() {
      return timers.size + returnListeners.size + hideListeners.size;
    },
    show() {
      isVisible = true;
      for (const listener of [...returnListeners]) listener();
    },
    hide() {
      isVisible = false;
      for (const listener of [...hideListeners]) listener();
    },
  };
}
