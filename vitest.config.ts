import { configDefaults, defineConfig } from 'vitest/config';
import {
  LONG_SUITES,
  leftOut,
  SUITES_ALONE,
  SUITES_OF_THEIR_OWN,
} from './test/support/long-suites.ts';
import { LongestFirst, NearestFirst } from './test/support/longest-first.ts';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

const suites = leftOut();
if (suites.length > 0) {
  process.stderr.write(
    `Left out here, and run by npm test -- --long or --all: ${suites.join(', ')}\n`,
  );
}
const exclude = [...configDefaults.exclude, ...suites];
const others = [...LONG_SUITES, ...SUITES_OF_THEIR_OWN, ...SUITES_ALONE];

// On two quiet cores a run takes five minutes, and a long run sixteen. On busy cores they take twice as long. A run in full
// takes hours.
const RUN_MS = (process.env.FULL ? 180 : 40) * 60_000;
setTimeout(() => {
  process.stderr.write('The run is past its deadline\n');
  process.exit(1);
}, RUN_MS).unref();

// Suites with a process of their own are about the whole program, so they come after the others then.
const isNearestFirst = process.env.NEAREST !== undefined;

export default defineConfig({
  test: {
    // Vite's module runner would load a second copy of graphql beside Node's own.
    experimental: { viteModuleRunner: false },
    setupFiles: ['test/support/watchdog.ts'],
    restoreMocks: true,
    unstubGlobals: true,
    // Long enough for a busy machine. A test that hangs is found nevertheless.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new SkippedReporter()],
    sequence: { sequencer: isNearestFirst ? NearestFirst : LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared-process',
          include: ['test/**/*.test.ts', 'client/test/**/*.test.ts'],
          exclude: [...exclude, ...others],
          // With a process for each file, half of the CPU time would go into loading the service again and again.
          isolate: false,
          // Tests mostly wait for conditions, so more workers than cores are of use. With more than five they delay each other.
          maxWorkers: 5,
          sequence: { groupOrder: isNearestFirst ? 0 : 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'own-process',
          include: [...SUITES_OF_THEIR_OWN, ...LONG_SUITES],
          exclude: [...exclude, ...SUITES_ALONE],
          // These suites hold megabytes or start processes. More than four at a time do not end in time on two cores.
          maxWorkers: 4,
          sequence: { groupOrder: isNearestFirst ? 1 : 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: SUITES_ALONE,
          exclude,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
