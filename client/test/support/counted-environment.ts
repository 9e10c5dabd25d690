import { WebSocket as NodeWebSocket } from 'ws';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { Environment } from '../../src/environment.ts';

export interface CountedEnvironment extends Environment {
  /** Timers that have neither run nor been cancelled. */
  readonly timers: ReadonlySet<object>;
  readonly listeners: ReadonlySet<object>;
  /** The number of timers and listeners. */
  readonly pending: number;
  /** The pauses that were asked for, in milliseconds. */
  readonly pauses: readonly number[];
}

export interface CountedEnvironmentOptions extends Partial<Environment> {
  /** Shortens pauses that the test does not depend on: returns the milliseconds to wait instead. */
  readonly hurry?: (ms: number) => number;
  /** Collects errors of tasks, for example of an app's own listener, in place of the platform. */
  readonly thrown?: unknown[];
}

/** The platform's own environment of a visible app, with counted timers and listeners. */
export function countedEnvironment({
  hurry = (ms) => ms,
  thrown,
  ...changed
}: CountedEnvironmentOptions = {}): CountedEnvironment {
  const timers = new Set<object>();
  const listeners = new Set<object>();
  const listen = (listener: object) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const pauses: number[] = [];
  const own: Environment = {
    ...browserEnvironment(),
    WebSocket: NodeWebSocket as unknown as typeof globalThis.WebSocket,
    lifecycle: { isVisible: true, onReturn: listen, onHide: listen },
    ...changed,
  };
  return {
    ...own,
    timers,
    listeners,
    pauses,
    after(ms, task) {
      pauses.push(ms);
      const timer = {};
      timers.add(timer);
      const cancel = own.after(hurry(ms), () => {
        timers.delete(timer);
        try {
          task();
        } catch (error) {
          if (thrown === undefined) throw error;
          thrown.push(error);
        }
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    get pending() {
      return timers.size + listeners.size;
    },
  };
}
