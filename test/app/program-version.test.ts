import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { programBuild } from '../../src/app/program-version.ts';
import { ownFolder } from '../support/own-folder.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const MODULE = 'src/app/program-version.ts';

const folder = ownFolder();

/** The module and its manifest, somewhere else. */
function copyTo(folder: string): Promise<{ programBuild: typeof programBuild }> {
  for (const path of [MODULE, 'package.json']) cpSync(join(PROJECT, path), join(folder, path));
  return import(join(folder, MODULE));
}

test('a checkout reads its revision, an image is given it, and neither takes that of a project around it', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder.path,
      encoding: 'utf8',
    }).trim();
  const checkout = await copyTo(folder.path);
  const inside = await copyTo(join(folder.path, 'inside'));
  git('init', '--quiet');
  // A repository without any commit has no revision.
  expect(checkout.programBuild({ revision: null }).revision).toBe('unknown');
  git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
  const revision = git('rev-parse', 'HEAD');
  const { version } = programBuild({ revision: null });
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(checkout.programBuild({ revision: null })).toEqual({ version, revision });
  // Of another user's folder too, which git treats like this.
  vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', 'true');
  expect(() => git('rev-parse', 'HEAD')).toThrow('dubious ownership');
  expect(checkout.programBuild({ revision: null })).toEqual({ version, revision });
  expect(checkout.programBuild({ revision: 'of-monday' }).revision).toBe('of-monday');
  expect(inside.programBuild({ revision: null })).toEqual({ version, revision: 'unknown' });
});
