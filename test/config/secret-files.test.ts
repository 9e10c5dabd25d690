import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Environment, parseEnvironment, readConfig } from '../../src/config.ts';
import { ownFolder } from '../support/own-folder.ts';

const folder = ownFolder();

const SECRET = 's3cret with spaces, of 32 bytes and more ';

async function fileWith(text: string): Promise<string> {
  const path = join(folder.path, 'secret');
  await writeFile(path, text);
  return path;
}

const problemsOf = (environment: Environment) => parseEnvironment(environment).problems;

test.each([
  ['JWT_SECRET', 'jwtSecret', SECRET, SECRET],
  ['GATEWAY_HEADERS', 'gatewayHeaders', '{"x-api-key":"k"}', { 'x-api-key': 'k' }],
  ['REDIS_URL', 'redisUrl', 'redis://:pw@redis/3', 'redis://:pw@redis/3'],
] as const)(
  '%s may come from a file, with or without a line end',
  async (name, key, text, value) => {
    for (const end of ['', '\n', '\r\n']) {
      const config = readConfig({ [`${name}_FILE`]: await fileWith(`${text}${end}`) });
      expect(config[key]).toEqual(value);
    }
  },
);

test('a secret must not be set both by value and by file, and the problem shows no secret', async () => {
  const path = await fileWith(SECRET);
  expect(problemsOf({ JWT_SECRET: SECRET, JWT_SECRET_FILE: path })).toEqual([
    `JWT_SECRET_FILE="${path}": must be unset if JWT_SECRET is set`,
  ]);
});

test('an unusable file is one problem, and does not block the start', async () => {
  // Reading a pipe would wait for a writer.
  execFileSync('mkfifo', [join(folder.path, 'pipe')]);
  const missing = join(folder.path, 'none');
  for (const [path, reason] of [
    [missing, `ENOENT: no such file or directory, stat '${missing}'`],
    [folder.path, 'it is not a file'],
    [join(folder.path, 'pipe'), 'it is not a file'],
    ['/dev/zero', 'it is not a file'],
  ] as const) {
    expect(problemsOf({ JWT_SECRET_FILE: path })).toEqual([
      `JWT_SECRET_FILE="${path}": must be a file that holds JWT_SECRET (${reason})`,
    ]);
  }
});

test('a mistake in a file is reported without its content', async () => {
  const path = await fileWith('canary-that-is-no-address');
  expect(problemsOf({ REDIS_URL_FILE: path })).toEqual([
    `REDIS_URL_FILE="${path}": must hold a redis:// or rediss:// address with the number of a database, or the path of a socket`,
  ]);
  const [line] = problemsOf({ GATEWAY_HEADERS_FILE: await fileWith('{"x-key":{"canary":1}}') });
  expect(line).toContain('must hold a JSON object of header names');
  expect(line).not.toContain('canary');
});

test('a secret of fewer than 32 bytes or with a line end is refused, by value and by file', async () => {
  const refused = [
    'JWT_SECRET (value not shown): must be a shared secret of at least 32 bytes, without a line end',
  ];
  expect(problemsOf({ JWT_SECRET: 'x'.repeat(31) })).toEqual(refused);
  // Bytes count, not characters.
  expect(problemsOf({ JWT_SECRET: 'ü'.repeat(16) })).toEqual([]);
  expect(problemsOf({ JWT_SECRET: 'ü'.repeat(15) })).toEqual(refused);
  const path = await fileWith(`${'x'.repeat(31)}\n`);
  expect(problemsOf({ JWT_SECRET_FILE: path }).join()).toContain('at least 32 bytes');
  // Only the last line end of a file does not belong to the secret.
  const byValue = { JWT_SECRET: `${'x'.repeat(32)}\n`, JWT_SECRET_FILE: '' };
  const byFile = { JWT_SECRET_FILE: await fileWith(`${'x'.repeat(32)}\r\n\n`) };
  for (const environment of [byValue, byFile]) {
    expect(problemsOf(environment).join()).toContain('without a line end');
  }
});
