import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST } from './long-suites.ts';

/**
 * Begins each project with the slowest suites. Without a record of former runs, as in CI, Vitest begins with the largest
 * files, and both cores wait at the end for a small file that takes a minute.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((each) =>
      each.toSorted((one, other) => rankOf(one) - rankOf(other)),
    );
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return rank < 0 ? LONGEST.length : rank;
}
