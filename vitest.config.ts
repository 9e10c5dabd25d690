import { configDefaults, defineConfig } from 'vitest/config';
import { leftOut } from './test/support/long-suites.ts';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'client/test/**/*.test.ts'],
    // CI runs everything, as `npm run test:all` does.
    exclude: [...configDefaults.exclude, ...leftOut()],
    // Vite's module runner would load a second copy of graphql beside Node's own.
    experimental: { viteModuleRunner: false },
    restoreMocks: true,
    unstubGlobals: true,
    // For a machine that is busy with something else; a test that hangs is found all the same.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Most of the time is spent waiting for a condition, not for a core.
    maxWorkers: 6,
    reporters: ['default', new SkippedReporter()],
  },
});
