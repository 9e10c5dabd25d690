import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { CaseRun, type Step } from './case-run.ts';
import { listHistories, playList } from './list-history.ts';
import { orderHistories, playOrders } from './order-history.ts';
import type { OrderService } from './order-service.ts';

export interface HistoryOptions {
  readonly seed: number;
  readonly times: number;
  /** The seed of an earlier difference, which is played alone. */
  readonly path?: string | undefined;
}

/** The result of random histories. */
export interface HistoryReport {
  /** The smallest history that differs, as a case of the vectors; null where none does. */
  readonly difference: string | null;
  /** The history that was played last, or that of the path, as a case. */
  readonly last: string;
}

type Play<History> = (run: CaseRun, history: History) => Promise<void>;

export const playLists = (options: HistoryOptions): Promise<HistoryReport> =>
  playAll('folds', listHistories, playList, options);

export const playTickets = (
  service: OrderService,
  options: HistoryOptions,
): Promise<HistoryReport> =>
  playAll('tickets', orderHistories, (run, history) => playOrders(run, service, history), options);

async function playAll<History>(
  family: string,
  histories: fc.Arbitrary<History>,
  play: Play<History>,
  { seed, times: numRuns, path = '' }: HistoryOptions,
): Promise<HistoryReport> {
  const file = join(import.meta.dirname, '..', '..', 'vectors', `${family}.json`);
  const { event = {} } = JSON.parse(readFileSync(file, 'utf8'));
  let run: CaseRun | null = null;
  let failed: readonly (readonly Step[])[] = [];
  const property = fc.asyncProperty(histories, async (history) => {
    // Behind the history of a path come others, which nobody asked for.
    if (path !== '' && run !== null) return;
    const own = new CaseRun(event, 15, {});
    run = own;
    try {
      await play(own, history);
    } catch (error) {
      failed = [failed[0] ?? own.played, own.played];
      throw error;
    }
  });
  const given = path === '' ? { numRuns } : { path, numRuns: 1, endOnFailure: true };
  const result = await fc.check(property, { seed, ...given });
  const [first = [], smallest = []] = failed;
  const { message = '' } = Object(result.errorInstance);
  const why = `${message} (${smallest.length} steps, ${first.length} before shrinking)`;
  const again = `--family ${family} --seed ${seed} --path ${result.counterexamplePath}`;
  return {
    difference: result.failed ? `${caseOf(why, smallest)}\nPlay it again with ${again}` : null,
    last: caseOf('', (run as CaseRun | null)?.played ?? []),
  };
}

function caseOf(name: string, steps: readonly Step[]): string {
  const lines = steps.map((step) => JSON.stringify(step, null, 1).replace(/\n */g, ' '));
  return `{ "name": ${JSON.stringify(name)}, "rule": "", "steps": [\n  ${lines.join(',\n  ')}\n] }`;
}
