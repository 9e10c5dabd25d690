import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { SendFault } from './receive-buffer.ts';

export interface CutLogOptions {
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Clock;
}

const QUIET_MS = 10_000;

/** Logs connections that are closed for what they sent: the first at once, the others as a number. */
export class CutLog {
  readonly #options: CutLogOptions;
  readonly #counts = new Map<SendFault, number>();

  constructor(options: CutLogOptions) {
    this.#options = options;
  }

  add(reason: SendFault): void {
    const count = this.#counts.get(reason);
    if (count !== undefined) {
      this.#counts.set(reason, count + 1);
      return;
    }
    this.#write(reason, 1);
  }

  #write(reason: SendFault, connections: number): void {
    const { log, clock } = this.#options;
    log.warn({ reason, connections }, 'connections were closed for what they sent');
    this.#counts.set(reason, 0);
    clock.after(QUIET_MS, () => {
      const others = this.#counts.get(reason) ?? 0;
      this.#counts.delete(reason);
      if (others > 0) this.#write(reason, others);
    });
  }
}
