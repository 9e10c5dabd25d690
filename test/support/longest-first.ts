import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST } from './long-suites.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

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

/** Begins each project with the suites that lie nearest to the changed files: `test/` has the folders of `src/`. */
export class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
    const untracked = git('ls-files', '--others', '--exclude-standard');
    const changed = [...git('diff', '--name-only', 'HEAD'), ...untracked].map(partsOf);
    const nearness = ({ moduleId }: TestSpecification) => {
      const parts = partsOf(relative(ROOT, moduleId));
      return Math.max(...changed.map((each) => sharedParts(each, parts)));
    };
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((each) =>
      each.toSorted((one, other) => nearness(other) - nearness(one)),
    );
  }
}

/** The folders and the name of a source, or of its test. */
function partsOf(path: string): readonly string[] {
  const [, ...parts] = path.replace(/(?:\.test)?\.ts$/, '').split('/');
  return parts;
}

function sharedParts(one: readonly string[], other: readonly string[]): number {
  const differsAt = one.findIndex((part, index) => part !== other[index]);
  return differsAt < 0 ? one.length : differsAt;
}
