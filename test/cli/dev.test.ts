import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postQuery } from '../support/app.ts';
import { compileCache } from '../support/compile-cache.ts';
import { eventually } from '../support/eventually.ts';
import { ownFolder } from '../support/own-folder.ts';
import { startProgram } from '../support/started-program.ts';

const CLI = join(import.meta.dirname, '../../src/cli/main.ts');
const GRAPH = `import { word } from './word.ts';
export default ({ builder }) =>
  builder.queryField('word', (t) => t.string({ description: 'x', resolve: () => word }));`;
const folder = ownFolder();

const write = (text: string, name = 'word.ts') => writeFile(join(folder.path, name), text);

test('an extension is reloaded when it is saved, and the last one that can be loaded is served meanwhile', async () => {
  await write(GRAPH, 'graph.mjs');
  const env = { ...process.env, ...compileCache(), PORT: '0', ADMIN_PORT: '0' };
  const started = await startProgram(
    process.execPath,
    [CLI, 'dev'],
    (lines) => lines.some((line) => line.includes('save a file to start it')),
    { env: { ...env, EXTENSIONS: join(folder.path, 'graph.mjs') } },
  );
  await using program = started;
  const said = (text: string) => program.logged.filter((line) => line.includes(text)).length;
  const wordNow = async () => {
    const url = program.logged.findLast((line) => / serving /.test(line))?.match(/ url=(\S+)/)?.[1];
    if (url === undefined) return null;
    const { data } = await postQuery(`${url}/graphql`, '{ word }', {});
    return data.word;
  };
  expect(said('Cannot find module')).toBeGreaterThan(0);

  await write("export const word: string = 'one';");
  await eventually(async () => expect(await wordNow()).toBe('one'));

  await write("\nexport const word: = 'two';");
  await write('', 'not-imported.ts');
  await eventually(() =>
    expect(said('word.ts cannot be loaded: what ran before goes on.')).toBe(1),
  );
  expect(said(`in ${join(folder.path, 'word.ts')}:2`)).toBe(1);
  expect(await wordNow()).toBe('one');

  await write("setInterval(() => {}, 60_000); export const word: string = 'two';");
  await eventually(async () => expect(await wordNow().catch(() => null)).toBe('two'));
  expect(said(' serving ')).toBe(2);

  program.signal('SIGTERM');
  expect(await program.ended()).toBe(0);
  await expect(wordNow()).rejects.toThrow();
});
