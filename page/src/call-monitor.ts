import { noteGraphFigures } from './lanes/graph-figures.ts';
import { noteMark } from './lanes/mark.ts';
import {
  askServer,
  type CallCounts,
  type EndedCall,
  HAS_CONTROLS,
  ServerUnavailable,
  sandbox,
} from './sandbox.ts';

const EVERY_MS = 1_000;
/** Rates are of this long: a single second has none, one or two polls by chance. */
const WINDOW_MS = 6_000;
const MAX_KEPT = 1_000;

export interface Outage {
  /** When the last answer came, which may be long ago: a hidden page asks for nothing. */
  readonly answeredAt: Date;
  readonly reason: string;
}

/** How often the gateway is called, asked for each second while the page is shown; and with it, whether the server is there. */
export class CallMonitor {
  readonly #listeners = new Set<() => void>();
  #counts: CallCounts | null = null;
  #ended: readonly EndedCall[] = [];
  #outage: Outage | null = null;
  #answeredAt = new Date();

  /** Null before the first answer, and for a browser that may not ask. */
  get counts(): CallCounts | null {
    return this.#counts;
  }

  /** Why nothing comes from the server; null while it answers. */
  get outage(): Outage | null {
    return this.#outage;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Goes on asking, without a timer while the page is hidden. */
  start(): void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') timer = setTimeout(next, EVERY_MS);
    };
    const next = async () => {
      await this.refresh();
      if (this.counts !== null) await noteGraphFigures();
      wait();
    };
    document.addEventListener('visibilitychange', wait);
    wait();
  }

  async refresh(): Promise<void> {
    try {
      if (HAS_CONTROLS) await this.#count();
      else await askServer('.', { method: 'HEAD' });
      this.#outage = null;
      this.#answeredAt = new Date();
    } catch (error) {
      this.#counts = null;
      const isOut = error instanceof ServerUnavailable;
      this.#outage = isOut ? { answeredAt: this.#answeredAt, reason: error.message } : null;
    }
    for (const listener of this.#listeners) listener();
  }

  async #count(): Promise<void> {
    const lastEnd = () => this.#ended.at(-1)?.endedAtMs ?? 0;
    this.#counts = await sandbox.calls(lastEnd());
    // Another request for them may have been answered meanwhile.
    const fresh = this.#counts.ended.filter(({ endedAtMs }) => endedAtMs > lastEnd());
    this.#ended = [...this.#ended, ...fresh].slice(-MAX_KEPT);
    for (const call of fresh) noteEnded(call);
  }

  /** Calls per second of an operation, over the last seconds; null where the sandbox does not answer. */
  rate(operation: string): number | null {
    if (this.#counts === null) return null;
    const fromMs = Date.now() - WINDOW_MS;
    const calls = this.#ended.filter(
      (call) => call.operation === operation && call.endedAtMs > fromMs,
    );
    return (calls.length * 1_000) / WINDOW_MS;
  }
}

function noteEnded({ atMs, endedAtMs, operation, fault, status }: EndedCall): void {
  const kind = fault === null ? 'call' : 'fault';
  const text = `${operation} · ${fault ?? status ?? 'no whole answer'}`;
  noteMark({ lane: 'gateway', kind, atMs, ms: endedAtMs - atMs, text });
}
