import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  readonly private?: boolean;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
}

const client = manifest('client/package.json');
const project = manifest('package.json');
const tested = {
  ...project.dependencies,
  ...project.devDependencies,
  ...client.dependencies,
  ...client.devDependencies,
  'trading-graph-client': `file:../../trading-graph-client-${client.version}.tgz`,
};

const EXAMPLES = globSync('examples/*/package.json', { cwd: root });
// They are tested with the packages of the project.
test.each(EXAMPLES)('%s installs the versions that its test runs with', (path) => {
  const { private: isPrivate, dependencies, devDependencies } = manifest(path);
  expect(isPrivate).toBe(true);
  const { expo, ...installed } = { ...dependencies, ...devDependencies };
  expect(installed).toHaveProperty('trading-graph-client');
  // Expo says which versions of React and of its own packages go with it, and this project has none of these.
  if (expo !== undefined) expect(tested).toMatchObject(ofOurs(installed));
  else expect(tested).toMatchObject(installed);
});

function ofOurs(installed: Readonly<Record<string, string>>) {
  const { graphql, typescript, 'trading-graph-client': own } = installed;
  return { graphql, typescript, 'trading-graph-client': own };
}
