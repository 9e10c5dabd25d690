import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Lists at the end what was skipped, because a suite that did not run looks like a green one. Suites that need a program of
 * the machine are counted by file, and the last line says how to install the programs.
 */
export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines: string[] = [];
    const missing = new Set<string>();
    for (const module of modules) {
      const skipped = [...module.children.allTests('skipped')];
      const withoutProgram = skipped.filter((test) => missingProgram(test) !== null);
      const programs = new Set(withoutProgram.map((test) => missingProgram(test) ?? ''));
      for (const program of programs) missing.add(program);
      if (withoutProgram.length > 0) {
        const names = [...programs].join(', ');
        lines.push(`  ${module.relativeModuleId}: ${withoutProgram.length} without ${names}`);
      }
      for (const test of skipped) {
        if (missingProgram(test) === null) {
          lines.push(`  ${module.relativeModuleId}: ${test.fullName}`);
        }
      }
    }
    if (lines.length > 0) process.stdout.write(`\nSkipped here:\n${lines.join('\n')}\n`);
    if (missing.size > 0) {
      const names = [...missing].join(', ');
      process.stdout.write(`\nSome tests were skipped without ${names}: npm run tools\n`);
    }
  }
}

/** The program of `describeWith` that a test lacks. Tests that `-t` leaves out have no such name. */
function missingProgram({ fullName }: TestCase): string | null {
  return /\(no ([^()]+) here\)/.exec(fullName)?.[1] ?? null;
}
