import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isInContext, parseDockerfile, parseGlobalArguments } from '../support/dockerfile.ts';

const root = join(import.meta.dirname, '..', '..');

test('the build context contains the sources of the build, but no tests and no local files', () => {
  const dockerignore = readFileSync(join(root, '.dockerignore'), 'utf8');
  const paths = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const isSent = (path: string) => isInContext(path, dockerignore);
  const localFiles = ['.env', 'data/orders.db', '.git/config', 'node_modules/pino/package.json'];
  expect(localFiles.filter(isSent)).toEqual([]);
  const notNeeded = /^(test|scripts\/(?!image\/)|src\/page\/)/;
  expect(paths.filter((path) => notNeeded.test(path) && isSent(path))).toEqual([]);
  const sources =
    /^(src\/(?!page\/|graphiql\/(?!server\/|page\/|bundle\/))|scripts\/image\/)|^(LICENSE|package(-lock)?\.json)$/;
  expect(paths.filter((path) => sources.test(path) && !isSent(path))).toEqual([]);
});

test('the image’s user can read all copied files, even if the checkout has other file modes', () => {
  const [, bundle, image] = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const last = bundle?.instructions.at(-1);
  const [, readable = ''] = / && chmod -R a\+rX (.*)$/.exec(last?.rest ?? '') ?? [];
  const sources = image?.instructions.flatMap(({ name, rest }) =>
    name === 'COPY' ? [/^--from=bundle \/app\/(src\/[\w-]+|[\w.-]+)/.exec(rest)?.[1]] : [],
  );
  expect(new Set(sources)).toEqual(new Set(readable.split(' ')));
});

test('all stages use one official image of Node by its digest, with exactly the version of development', () => {
  const source = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };
  const versions = new Set(Object.values(optionalDependencies));
  expect(versions.size).toBe(1);
  const image = `node:${[...versions].join()}-slim@sha256:`;
  const { NODE_IMAGE = '' } = parseGlobalArguments(source);
  expect(NODE_IMAGE.slice(0, image.length)).toBe(image);
  expect(NODE_IMAGE.slice(image.length)).toMatch(/^[\da-f]{64}$/);
  expect(new Set(parseDockerfile(source).map((stage) => stage.image))).toEqual(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's variable, not ours
    new Set(['${NODE_IMAGE}']),
  );
});
