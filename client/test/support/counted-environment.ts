import { WebSocket as NodeWebSocket } from 'ws';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { Environment } from '../../src/environment.ts';

export interface CountedEnvironment extends Environment {
  /** Timers that have neither run nor been cancelled. */
  readonly timers: ReadonlySet<object>;
  readonly listeners: ReadonlySet<object>;
  /** The number of both. */
  readonly pending: number;
  /** The pauses that were asked for, in milliseconds. */
  readonly pauses: readonly number[];
}

export interface CountedEnvironmentOptions extends Partial<Environment> {
  /** Pauses from this length on are shortened to nothing, where a test waits for none of them. */
  readonly hurry?: (ms: number) => number;
  /** Holds what tasks throw, for example an app's own listener, in place of the platform. */
  readonly thrown?: unknown[];
}

/** The platform's own environment, whose timers and listeners are counted, of an app that is shown. */
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
