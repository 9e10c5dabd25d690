import type { Random } from '../../../src/sandbox/random.ts';
import type { Draft } from './draft.ts';
import type { Trial } from './trial-ground.ts';

export interface Slope<D = Draft> {
  readonly random: Random;
  /** The starting points: the worst document of another kind may be bad in this one too. */
  readonly seeds: readonly D[];
  readonly compose: () => D;
  readonly mutate: (draft: D) => D;
  readonly shrink: (draft: D) => D;
  readonly measure: (draft: D) => Promise<Trial>;
  /** The share of the time that is used up: over at 1. */
  readonly elapsed: () => number;
}

export interface Found<D = Draft> {
  readonly draft: D;
  readonly trial: Trial;
}

export interface Climb<D = Draft> {
  /** The worst first; empty where no document was allowed. */
  readonly worst: readonly Found<D>[];
  readonly tried: number;
  readonly refused: number;
  /** A refused document costs something as well. */
  readonly longestRefusedMs: number;
  /** The most fields of an allowed answer. */
  readonly mostFields: number;
}

const KEPT = 6;
const NEW_SHARE = 0.1;
const SHRINKINGS = 6;
/** This share of the time goes into climbs from new documents, the rest into the worst of all. */
const EXPLORING = 0.5;
const PATIENCE = 20;

/** Looks for the document that does most harm. */
export async function climb<D>(slope: Slope<D>): Promise<Climb<D>> {
  const climber = new Climber(slope);
  await climber.climb();
  return climber;
}

class Climber<D> implements Climb<D> {
  readonly worst: Found<D>[] = [];
  tried = 0;
  refused = 0;
  longestRefusedMs = 0;
  mostFields = 0;
  readonly #slope: Slope<D>;
  /** The hill that is climbed at the moment, and the number of steps in vain. */
  #hill: Found<D> | null = null;
  #inVain = 0;

  constructor(slope: Slope<D>) {
    this.#slope = slope;
  }

  async climb(): Promise<void> {
    const { seeds, elapsed } = this.#slope;
    for (const seed of seeds) if (!this.#hasEnough) await this.#step(seed);
    while (elapsed() < EXPLORING && !this.#hasEnough) await this.#step(this.#nextOnHill());
    while (elapsed() < 1 && !this.#hasEnough) await this.#step(this.#nextOfWorst());
  }

  /** Nothing is worse than a process that does not come back. */
  get #hasEnough(): boolean {
    return this.worst[0]?.trial.verdict === 'stuck';
  }

  #nextOnHill(): D {
    const { compose, mutate } = this.#slope;
    if (this.#inVain > PATIENCE) this.#hill = null;
    return this.#hill ? mutate(this.#hill.draft) : compose();
  }

  #nextOfWorst(): D {
    const { random, compose, mutate } = this.#slope;
    const parent = this.worst[Math.floor(random() ** 2 * this.worst.length)];
    return parent && random() > NEW_SHARE ? mutate(parent.draft) : compose();
  }

  async #step(first: D): Promise<void> {
    const { shrink, elapsed } = this.#slope;
    let draft = first;
    let trial = await this.#attempt(draft);
    // A refused document shrinks until it passes: that leads along the edge of the limits.
    for (let left = SHRINKINGS; isTooComplex(trial) && left > 0 && elapsed() < 1; left -= 1) {
      draft = shrink(draft);
      trial = await this.#attempt(draft);
    }
    this.#inVain += 1;
    if (trial.verdict === 'refused') return;
    if (trial.verdict === 'allowed' && trial.harm > (this.worst[0]?.trial.harm ?? 0)) {
      // Measured twice, and the lesser counts: garbage collection may have hit one of them.
      const again = await this.#attempt(draft);
      if (again.harm < trial.harm) trial = again;
    }
    this.#keep({ draft, trial });
  }

  #keep(found: Found<D>): void {
    if (!this.#hill || found.trial.harm > this.#hill.trial.harm) {
      this.#hill = found;
      this.#inVain = 0;
    }
    this.worst.push(found);
    this.worst.sort((a, b) => b.trial.harm - a.trial.harm);
    this.worst.length = Math.min(this.worst.length, KEPT);
  }

  async #attempt(draft: D): Promise<Trial> {
    const trial = await this.#slope.measure(draft);
    this.tried += 1;
    if (trial.verdict === 'refused') {
      this.refused += 1;
      this.longestRefusedMs = Math.max(this.longestRefusedMs, trial.holdMs);
    } else this.mostFields = Math.max(this.mostFields, trial.fields);
    return trial;
  }
}

function isTooComplex({ codes }: Trial): boolean {
  return codes.includes('QUERY_TOO_COMPLEX');
}
