import { type CallCounts, ServerGone, sandbox } from './sandbox.ts';

const EVERY_MS = 1_000;
/** Rates are of this long: a single second has none, one or two polls by chance. */
const WINDOW_MS = 6_000;

interface Sample {
  readonly atMs: number;
  readonly counts: CallCounts;
}

/** How often the gateway is called, asked for each second while the page is shown; and with it, whether the server is there. */
export class CallMonitor {
  readonly #listeners = new Set<() => void>();
  #samples: readonly Sample[] = [];
  #goneSince: Date | null = null;
  #hasAnswer = false;
  #first: Promise<void> | null = null;

  /** Null before the first answer, or where the sandbox does not answer to this browser. */
  get counts(): CallCounts | null {
    return this.#samples.at(-1)?.counts ?? null;
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

  /** Goes on asking. */
  start(): void {
    const next = async () => {
      if (document.visibilityState === 'visible') await this.refresh();
      setTimeout(next, EVERY_MS);
    };
    setTimeout(next, EVERY_MS);
  }

  async refresh(): Promise<void> {
    const counts = await sandbox.calls().catch((error: unknown) => {
      this.#goneSince = error instanceof ServerGone ? (this.#goneSince ?? new Date()) : null;
      return null;
    });
    this.#hasAnswer = true;
    const atMs = performance.now();
    if (counts === null) this.#samples = [];
    else {
      this.#goneSince = null;
      const isReset = counts.total < (this.counts?.total ?? 0);
      const kept = isReset ? [] : this.#samples.filter((one) => atMs - one.atMs <= WINDOW_MS);
      this.#samples = [...kept, { atMs, counts }];
    }
    for (const listener of this.#listeners) listener();
  }

  /** Calls per second of an operation, over the last seconds; null until there are two answers. */
  rate(operation: string): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || first === last) return null;
    const calls = countOf(last, operation) - countOf(first, operation);
    return (calls * 1_000) / (last.atMs - first.atMs);
  }
}

function countOf({ counts }: Sample, operation: string): number {
  return counts.operations[operation] ?? 0;
}
