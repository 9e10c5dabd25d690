import { WebSocket } from 'ws';
import type { ScriptedClock } from '../../../test/support/scripted-clock.ts';
import type { Environment } from '../../src/environment.ts';

/** How the service's time, which is real, follows from the scripted one of its clients. */
export interface RehearsalTime {
  readonly clock: ScriptedClock;
  /** The date of the service at a scripted moment. */
  realDate(scriptedMs: number): Date;
}

/** A phone whose network goes and comes back, and whose clock is set wrongly. */
export class RehearsalDevice {
  isOnline = true;
  /** When the last order left it, by the scripted clock. */
  lastOrderMs = Number.NEGATIVE_INFINITY;
  readonly environment: Partial<Environment>;

  constructor({ clock, realDate }: RehearsalTime, clockMs: number) {
    const isOnline = () => this.isOnline;
    const sent = (text: string) => {
      if (/order: place(?!d)/.test(text)) this.lastOrderMs = clock.now();
      return text.replace(
        /"(sendBefore|since)":"([^"]+)"/g,
        (_, name, date) => `"${name}":"${realDate(Date.parse(date)).toISOString()}"`,
      );
    };
    class DeviceSocket extends WebSocket {
      constructor(url: string, protocol: string) {
        super(isOnline() ? url : 'ws://127.0.0.1:9', protocol);
      }

      override send(data: string): void {
        super.send(sent(data));
      }
    }
    this.environment = {
      fetch: (input, init) => {
        // A browser says no more than this, whatever the reason.
        if (!this.isOnline) return Promise.reject(new TypeError('Failed to fetch'));
        return fetch(input, { ...init, body: sent(String(init?.body)) });
      },
      WebSocket: DeviceSocket as unknown as typeof globalThis.WebSocket,
      lifecycle: {
        isVisible: true,
        get isOnline() {
          return isOnline();
        },
        onReturn: () => () => {},
        onHide: () => () => {},
      },
      now: () => clock.now() + clockMs,
      uptime: clock.now,
      after: clock.after,
    };
  }
}
