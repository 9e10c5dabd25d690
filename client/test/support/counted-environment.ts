import { WebSocket as NodeWebSocket } from 'ws';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { Environment } from '../../src/environment.ts';

export interface CountedEnvironment extends Environment {
  /** Timers that have neither run nor been cancelled. */
  readonly timers: ReadonlySet<object>;
  readonly listeners: ReadonlySet<(why?: 'online') => void>;
  /** The number of both, and of those who wait for the app to be hidden. */
  readonly pending: number;
  /** The pauses that were asked for, in milliseconds. */
  readonly pauses: readonly number[];
  hide(): void;
  /** As if the app were shown again, or the network were back. */
  comeBack(why?: 'online'): void;
}

export interface CountedEnvironmentOptions extends Partial<Environment> {
  /** Pauses from this length on are shortened to nothing, where a test waits for none of them. */
  readonly hurry?: (ms: number) => number;
  /** Holds what tasks throw, for example an app's own listener, in place of the platform. */
  readonly thrown?: unknown[];
}

/** The platform's own environment, whose timers and listeners are counted, and of an app that a test hides and shows. */
export function countedEnvironment({
  hurry = (ms) => ms,
  thrown,
  ...changed
}: CountedEnvironmentOptions = {}): CountedEnvironment {
  const timers = new Set<object>();
  const listeners = new Set<(why?: 'online') => void>();
  const hideListeners = new Set<() => void>();
  const pauses: number[] = [];
  let isVisible = true;
  const own: Environment = {
    ...browserEnvironment(),
    WebSocket: NodeWebSocket as unknown as typeof globalThis.WebSocket,
    lifecycle: {
      get isVisible() {
        return isVisible;
      },
      onReturn(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      onHide(listener) {
        hideListeners.add(listener);
        return () => void hideListeners.delete(listener);
      },
    },
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
      return timers.size + listeners.size + hideListeners.size;
    },
    hide() {
      isVisible = false;
      for (const listener of [...hideListeners]) listener();
    },
    comeBack(why) {
      isVisible = true;
      for (const listener of [...listeners]) listener(why);
    },
  };
}
