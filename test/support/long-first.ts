import { matchesGlob } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONG_SUITES } from './long-suites.ts';

/** Starts the long suites before the others, or the run would wait for them alone at its end. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONG_SUITES.some((suite) => matchesGlob(moduleId, `**/${suite}`));
    const { long = [], others = [] } = Object.groupBy(await super.sort(files), (file) =>
      isLong(file) ? 'long' : 'others',
    );
    return [...long, ...others];
  }
}
