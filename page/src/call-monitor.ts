import { noteGraphFigures } from './lanes/graph-figures.ts';
import { noteMark } from './lanes/mark.ts';
import { type CallCounts, type EndedCall, ServerGone, sandbox } from './sandbox.ts';

const EVERY_MS = 1_000;
/** Rates are of this long: a single second has none, one or two polls by chance. */
const WINDOW_MS = 6_000;
const MAX_KEPT = 1_000;

/** How often the gateway is called, asked for each second while the page is shown; and with it, whether the server is there. */
export class CallMonitor {
  readonly #listeners = new Set<() => void>();
  #counts: CallCounts | null = null;
  #ended: readonly EndedCall[] = [];
  #goneSince: Date | null = null;
  #hasAnswer = false;
  #first: Promise<void> | null = null;

  /** Null before the first answer, or where the sandbox does not answer to this browser. */
  get counts(): CallCounts | null {
    return this.#counts;
  }

  /** When the server stopped to answer; null while it answers. */
  get goneSince(): Date | null {
    return this.#goneSince;
  }

  /** Whether the server answers, but not with what only its own machine may see. */
  get isRefused(): boolean {
    return this.#hasAnswer && this.#goneSince === null && this.counts === null;
  }

  /** The first answer, which is asked for once. */
  begin(): Promise<void> {
    this.#first ??= this.refresh();
    return this.#first;
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
    const lastEnd = () => this.#ended.at(-1)?.endedAtMs ?? 0;
    const answer = await sandbox.calls(lastEnd()).catch((error: unknown) => {
      this.#goneSince = error instanceof ServerGone ? (this.#goneSince ?? new Date()) : null;
      return null;
    });
    this.#hasAnswer = true;
    this.#counts = answer;
    if (answer !== null) {
      this.#goneSince = null;
      // Another request for them may have been answered meanwhile.
      const fresh = answer.ended.filter(({ endedAtMs }) => endedAtMs > lastEnd());
      this.#ended = [...this.#ended, ...fresh].slice(-MAX_KEPT);
      for (const call of fresh) noteEnded(call);
    }
    for (const listener of this.#listeners) listener();
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
