import { isDeepStrictEqual } from 'node:util';
import type { Position } from '../../../src/gateway/model.ts';
import type { PullStream } from '../../../src/lib/pull-stream.ts';
import type { ChangesEvent, LiveBench } from './live-bench.ts';

/** A client that reads only on `pull`, applies the events, and resumes where it stopped. */
export class SlowReader {
  /** The positions that the client has. */
  readonly rows = new Map<string, Position>();
  /** Violations that no client should ever see. */
  readonly problems: string[] = [];
  events = 0;
  resumed = 0;
  readonly #bench: LiveBench;
  readonly #name: string;
  #token = 0;
  #stream: PullStream<ChangesEvent> | null = null;
  #isPulling = false;
  #cursor: string | null = null;
  #asOfMs = 0;

  constructor(bench: LiveBench, name: string) {
    this.#bench = bench;
    this.#name = name;
  }

  get token(): string {
    return `${this.#name} ${this.#token}`;
  }

  /** Pulls one event unless a pull is pending; checks it when it comes. */
  pull(intervalMs: number | null): void {
    if (this.#isPulling) return;
    this.#stream ??= this.#connect(intervalMs);
    const stream = this.#stream;
    this.#isPulling = true;
    stream.next().then(
      ({ value, done }) => {
        if (stream !== this.#stream) return;
        this.#isPulling = false;
        if (done) this.#stream = null;
        else this.#fold(value);
      },
      () => this.#startOver(stream),
    );
  }

  disconnect(): void {
    void this.#stream?.return();
    this.#stream = null;
    this.#isPulling = false;
  }

  /** After a refusal, or a timeout of the first list, the next connection has a fresh token. */
  #startOver(stream: PullStream<ChangesEvent>): void {
    if (stream !== this.#stream) return;
    this.#token += 1;
    this.disconnect();
  }

  #connect(intervalMs: number | null): PullStream<ChangesEvent> {
    const { hub, prove, viewer } = this.#bench;
    const asking = viewer(this.token);
    return hub.watchChanges(prove(asking), asking, { after: this.#cursor, intervalMs });
  }

  #fold({ cursor, snapshot, upserted, opened, closed, totals, asOf }: ChangesEvent): void {
    this.events += 1;
    if (snapshot) this.rows.clear();
    else this.resumed += 1;
    if (opened.some((id) => this.rows.has(id))) this.problems.push('opened what was open');
    if (!closed.every((id) => this.rows.delete(id))) this.problems.push('closed what was not open');
    for (const row of upserted) this.rows.set(row.id, row);
    if (asOf.getTime() < this.#asOfMs) this.problems.push('went back in time');
    if (totals.count !== this.rows.size) this.problems.push('counted otherwise');
    const answer = this.#bench.gateway.answered.get(asOf.getTime());
    if (!answer || !this.holds(answer)) this.problems.push('holds another list than the gateway');
    this.#cursor = cursor;
    this.#asOfMs = asOf.getTime();
  }

  holds(list: readonly Position[]): boolean {
    return isDeepStrictEqual(sortById([...this.rows.values()]), sortById(list));
  }
}

function sortById(list: readonly Position[]): Position[] {
  return list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
