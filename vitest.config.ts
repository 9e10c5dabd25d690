import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Vite's module runner would load a second copy of graphql beside Node's own.
    experimental: { viteModuleRunner: false },
    testTimeout: 20_000,
    hookTimeout: 30_000,
    reporters: ['default', new SkippedReporter()],
  },
});
