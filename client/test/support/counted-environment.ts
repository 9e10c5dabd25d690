import { WebSocket as NodeWebSocket } from 'ws';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { Environment } from '../../src/environment.ts';

export interface CountedEnvironment extends Environment {
  /** Timers that have neither run nor been cancelled. */
  readonly timers: ReadonlySet<object>;
  readonly listeners: ReadonlySet<(why?: 'online') => void>;
  /** As if the page were shown again, or the network were back. */
  comeBack(why?: 'online'): void;
  /** The pauses that were asked for, in milliseconds. */
  readonly pauses: readonly number[];
}

export interface CountedEnvironmentOptions extends Partial<Environment> {
  /** Pauses from this length on are shortened to nothing, where a test waits for none of them. */
  readonly hurry?: (ms: number) => number;
}

/** The platform's own environment, whose timers and listeners are counted. */
export function countedEnvironment({
  hurry = (ms) => ms,
  ...changed
}: CountedEnvironmentOptions = {}): CountedEnvironment {
  const timers = new Set<object>();
  const listeners = new Set<(why?: 'online') => void>();
  const pauses: number[] = [];
  const own = browserEnvironment();
  return {
    ...own,
    WebSocket: NodeWebSocket as unknown as typeof globalThis.WebSocket,
    timers,
    listeners,
    pauses,
    after(ms, task) {
      pauses.push(ms);
      const timer = {};
      timers.add(timer);
      const cancel = own.after(hurry(ms), () => {
        timers.delete(timer);
        task();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    lifecycle: {
      isVisible: true,
      onReturn(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      onHide: () => () => {},
    },
    comeBack(why) {
      for (const listener of [...listeners]) listener(why);
    },
    ...changed,
  };
}
