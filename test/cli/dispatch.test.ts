import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { failedStart } from '../support/failed-start.ts';
import { runCli } from '../support/run-cli.ts';

test.each([
  [[], 2],
  [['help'], 0],
  [['--help'], 0],
])('the arguments %j list the commands', async (args, code) => {
  const { out, ...rest } = await runCli(args);
  expect(rest).toEqual({ code, err: '' });
  for (const [name, { summary }] of Object.entries(COMMANDS)) {
    expect(out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
  }
});

test('--version prints the version and the revision', async () => {
  const { out, ...rest } = await runCli(['--version'], { REVISION: 'abc123' });
  expect(rest).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^\d+\.\d+\.\d+ \(abc123\)\s*$/);
});

test.each(['nope', 'constructor', '__proto__'])('%s is not a command', async (name) => {
  const { err, ...rest } = await runCli([name]);
  expect(rest).toEqual({ code: 2, out: '' });
  expect(err.split('\n')[0]).toBe(`There is no command ${name}.`);
});

test.each(Object.keys(COMMANDS))('%s prints its own usage', async (name) => {
  const { code, out } = await runCli([name, '--help']);
  expect(code).toBe(0);
  expect(out).toContain(`trading-graph ${name}`);
});

test.each([
  ['sandbox --port 99999', '--port'],
  ['sandbox --port x', '--port'],
  ['sandbox --colour red', '--colour'],
  ['sandbox extra', 'extra'],
  ['schema --yaml', '--yaml'],
  ['schema extra', 'extra'],
  ['check --token x', '--token'],
  ['hash', 'one address'],
  ['hash 1 2', 'one address'],
])('the wrong command line %s prints one line, with exit code 2', async (line, text) => {
  const { err, ...rest } = await runCli(line.split(' '), { LOG_ACCOUNT_KEY: 'a key' });
  expect(rest).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^.+\n$/);
  expect(err).toContain(text);
});

test('the service does not start with a wrong configuration or with an argument', async () => {
  const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
  const { code, problems } = await failedStart({ PORT: 'x' }, [main, 'start']);
  expect(code).toBe(78);
  expect(problems.join()).toContain('PORT="x": must be a whole number');
  const withArgument = await runCli(['start', '--port', '80']);
  expect(withArgument.code).toBe(2);
  expect(withArgument.err).toContain("Unknown option '--port'");
});
