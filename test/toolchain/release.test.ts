import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = ownFolder();

test('a release has its version in all its places, and is neither committed nor published', () => {
  const clone = join(folder.path, 'clone');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: clone,
      encoding: 'utf8',
    }).trim();
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${ROOT}`, clone]);
  const script = readFileSync(join(ROOT, 'scripts/release.ts'));
  writeFileSync(join(clone, 'scripts/release.ts'), script);
  git('add', '--all');
  git('commit', '-qm', 'as it is here', '--allow-empty');
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.ts', ...args], { cwd: clone, encoding: 'utf8' });
  const read = (path: string) => readFileSync(join(clone, path), 'utf8');

  for (const wrong of [[], ['next'], ['0.0.1']]) {
    expect(release(...wrong)).toMatchObject({ status: 2, stdout: '' });
  }
  const before = git('rev-parse', 'HEAD');
  const { status, stdout, stderr } = release('7.8.9');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('git tag v7.8.9');
  const { version, packages } = JSON.parse(read('package-lock.json'));
  const versions = ['package.json', 'client/package.json'].map(
    (path) => JSON.parse(read(path)).version,
  );
  expect([version, packages[''].version, packages.client.version, ...versions]).toEqual(
    Array(5).fill('7.8.9'),
  );
  expect(read('Dockerfile')).toContain('image.version="7.8.9"');
  expect(read('deploy/kubernetes/kustomization.yaml')).toContain('newTag: 7.8.9');
  expect(read('CHANGELOG.md')).toMatch(/^## 7\.8\.9, \d{4}-\d\d-\d\d$/m);
  expect(read('client/README.md')).toContain('trading-graph-client-7.8.9.tgz');
  expect(git('rev-parse', 'HEAD')).toBe(before);
  expect(git('tag', '--list')).toBe('');
  // A second one would begin with what the first has left.
  expect(release('7.9.0').stderr).toContain('not committed');

  const headings = () => read('CHANGELOG.md').match(/^## .*/gm);
  const [, ...earlier] = headings() ?? [];
  const finish = (name: string) => {
    git('commit', '-qam', `Release ${name}`);
    git('tag', `v${name}`);
  };
  finish('7.8.9');
  expect(release('7.9.0')).toMatchObject({ status: 0, stderr: '' });
  expect(headings()).toEqual([
    expect.stringMatching(/^## 7\.9\.0, \d{4}-\d\d-\d\d$/),
    expect.stringMatching(/^## 7\.8\.9, /),
    ...earlier,
  ]);
  finish('7.9.0');
  const waiting = '## Not released yet\n\n- **Screens**: more of them.\n\n## 7.9.0, ';
  writeFileSync(
    join(clone, 'CHANGELOG.md'),
    read('CHANGELOG.md').replace('## 7.9.0, ', () => waiting),
  );
  git('commit', '-qam', 'More screens');
  expect(release('7.10.0')).toMatchObject({ status: 0, stderr: '' });
  expect(read('CHANGELOG.md')).toMatch(
    /^## 7\.10\.0, .*\n\n- \*\*Screens\*\*: more of them\.\n\n## 7\.9\.0, .*\n\nNothing that users/m,
  );
});
