import type { HostileReply } from './hostile-client.ts';

/** Counts the answers by their codes. */
export class ReplyTally {
  readonly #counts = new Map<string, number>();

  note({ status, codes }: HostileReply): void {
    const what = codes.join(' and ') || (status === 0 ? 'cut off' : String(status));
    this.add(what, 1);
  }

  add(what: string, count: number): void {
    if (count > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  toString(): string {
    const all = [...this.#counts].map(([what, count]) => `${what} × ${count}`);
    return all.join(', ') || 'none';
  }
}
