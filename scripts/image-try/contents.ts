import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_PATH } from './base.ts';
import type { BuiltImage } from './build.ts';
import { expect, expectEqual } from './expect.ts';

const root = join(import.meta.dirname, '..', '..');
const MAX_BYTES = 25_000_000;

/** What the image holds and what it says of itself; returns the bytes of its `/app`. */
export function checkContents({ config, rootFolder, revision, baseName }: BuiltImage): number {
  const workFolder = join(rootFolder, config.WorkingDir);
  expectEqual(
    ['.', 'src', 'src/graphiql'].map((path) => readdirSync(join(workFolder, path)).sort()),
    [['compile-cache', 'data', 'dist', 'package.json', 'src'], ['graphiql'], ['bundle', 'page']],
    "it holds the bundle, its compile cache and GraphiQL's page, and none of the server's sources",
  );
  const bytes = bytesIn(workFolder);
  expect(bytes < MAX_BYTES, `${config.WorkingDir} is smaller than ${MAX_BYTES / 1e6} MB`);

  const { name, version, license, description } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const { 'org.opencontainers.image.description': about, ...labels } = config.Labels;
  expect(about !== undefined && description.includes(about), 'it says what it is for');
  expectEqual(
    labels,
    {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.base.name': baseName,
    },
    'it says what it is and what it was built from',
  );

  expectEqual(
    Object.fromEntries(config.Env.map((variable) => variable.split('=', 2))),
    {
      PATH: BASE_PATH,
      NODE_ENV: 'production',
      REVISION: revision,
      NODE_COMPILE_CACHE: 'compile-cache',
      NODE_COMPILE_CACHE_PORTABLE: '1',
      HOST: '0.0.0.0',
      ADMIN_HOST: '0.0.0.0',
      SHUTDOWN_DELAY_MS: '5000',
    },
    'it listens to the outside, and has no other settings of its own',
  );
  expect(config.Cmd[0] === 'node', 'Node itself is its process, without a shell in between');
  // The user is a number, or Kubernetes' `runAsNonRoot` refuses the image.
  expect(/^[1-9]\d*:[1-9]\d*$/.test(config.User), 'its user is not root, and has a number');
  expectEqual(Object.keys(config.Volumes), ['/app/data'], 'its order records are in a volume');
  // A new volume takes its owner and mode from there.
  const { uid, gid, mode } = statSync(join(rootFolder, '/app/data'));
  expectEqual(
    [`${uid}:${gid}`, mode & 0o777],
    [config.User, 0o700],
    'the volume is for its user alone',
  );
  return bytes;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
