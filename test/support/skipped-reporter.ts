import type { Reporter, TestModule } from 'vitest/node';

/** Lists every skipped test at the end, because a suite that did not run looks like a green one. */
export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map(
        (test) => `  ${module.relativeModuleId}: ${test.fullName}`,
      ),
    );
    if (names.length > 0) process.stdout.write(`\nSkipped here:\n${names.join('\n')}\n`);
  }
}
