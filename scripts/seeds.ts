const SEEDS = 2 ** 31;

/** The options of every script that uses seeds. The first run uses `seed`, and each later run uses the next number. */
export const SEED_OPTIONS = {
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * SEEDS)) },
} as const;

/** Runs until the time is over or a run has problems, which are printed; the process then ends with 1. */
export async function runSeeds(
  { minutes, seed: first }: { readonly minutes: string; readonly seed: string },
  run: (seed: number) => Promise<readonly string[]>,
): Promise<void> {
  const endsAtMs = performance.now() + Number(minutes) * 60_000;
  let seed = Number(first);
  do {
    const problems = await run(seed);
    for (const problem of problems) console.error(`  PROBLEM ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
    seed += 1;
  } while (!process.exitCode && performance.now() < endsAtMs);
}
