import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { postQuery } from '../../support/app.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();

test.each([
  ['an error', 'throw new Error("outside of any hook")'],
  ['a rejection', 'void Promise.reject(new Error("outside of any hook"))'],
])('%s that nothing handles leaves one line with its client, and exits', async (_what, fault) => {
  const file = join(folder.path, 'plugins.mjs');
  await writeFile(file, `export default [{ onParse() { setImmediate(() => { ${fault}; }); } }];`);
  await using sandbox = await startSandbox({ tickMs: 0 });
  await using facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, PLUGINS: file });
  await postQuery(`${facade.url}/graphql`, '{ __typename }', {}).catch(() => {});
  expect(await facade.ended()).toBe(1);
  const fatal = facade.logged.filter((line) => line.includes('"fatal"'));
  expect(fatal.map((line) => JSON.parse(line))).toEqual([
    {
      ...{ level: 'fatal', time: expect.any(String) },
      err: expect.objectContaining({ message: 'outside of any hook', stack: expect.any(String) }),
      lastClient: expect.stringMatching(/^[0-9a-f]{16}$/),
      msg: 'an error that nothing handles ends the process',
    },
  ]);
  // Not a second time as plain text.
  expect(facade.logged.at(-1)).toBe(fatal[0]);
});
