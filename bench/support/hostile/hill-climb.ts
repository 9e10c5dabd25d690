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
  const { random, seeds, compose, mutate, shrink, measure, elapsed } = slope;
  const worst: Found<D>[] = [];
  const counts = { tried: 0, refused: 0, longestRefusedMs: 0, mostFields: 0 };
  /** The hill that is climbed at the moment, and the number of steps in vain. */
  let hill = null as Found<D> | null;
  let inVain = 0;

  const attempt = async (draft: D): Promise<Trial> => {
    const trial = await measure(draft);
    const { verdict, holdMs, fields } = trial;
    counts.tried += 1;
    if (verdict === 'refused') {
      counts.refused += 1;
      counts.longestRefusedMs = Math.max(counts.longestRefusedMs, holdMs);
    } else counts.mostFields = Math.max(counts.mostFields, fields);
    return trial;
  };

  const step = async (first: D): Promise<void> => {
    let draft = first;
    let trial = await attempt(draft);
    // A refused document shrinks until it passes: that leads along the edge of the limits.
    for (let left = SHRINKINGS; isTooComplex(trial) && left > 0 && elapsed() < 1; left -= 1) {
      draft = shrink(draft);
      trial = await attempt(draft);
    }
    inVain += 1;
    if (trial.verdict === 'refused') return;
    if (trial.verdict === 'allowed' && trial.harm > (worst[0]?.trial.harm ?? 0)) {
      // Measured twice, and the lesser counts: garbage collection may have hit one of them.
      const again = await attempt(draft);
      if (again.harm < trial.harm) trial = again;
    }
    const found = { draft, trial };
    if (!hill || trial.harm > hill.trial.harm) {
      hill = found;
      inVain = 0;
    }
    worst.push(found);
    worst.sort((a, b) => b.trial.harm - a.trial.harm);
    worst.length = Math.min(worst.length, KEPT);
  };

  // Nothing is worse than a process that does not come back.
  const hasEnough = () => worst[0]?.trial.verdict === 'stuck';
  for (const seed of seeds) if (!hasEnough()) await step(seed);
  while (elapsed() < EXPLORING && !hasEnough()) {
    if (inVain > PATIENCE) hill = null;
    await step(hill ? mutate(hill.draft) : compose());
  }
  while (elapsed() < 1 && !hasEnough()) {
    const parent = worst[Math.floor(random() ** 2 * worst.length)];
    await step(parent && random() > NEW_SHARE ? mutate(parent.draft) : compose());
  }
  return { worst, ...counts };
}

function isTooComplex({ codes }: Trial): boolean {
  return codes.includes('QUERY_TOO_COMPLEX');
}
