import { expect, test } from 'vitest';
import type { Terminal } from '../../src/cli/dispatch.ts';
import { type Commands, dispatch } from '../../src/cli/dispatch.ts';

function rehearse() {
  const out: string[] = [];
  const err: string[] = [];
  const loaded: string[] = [];
  const commands: Commands = {
    greet: {
      summary: 'say hello',
      load: async () => {
        loaded.push('greet');
        return {
          usage: 'Usage: trading-graph greet <name>',
          run: async ([name], terminal) => {
            terminal.out(`Hello ${name}`);
            return 7;
          },
        };
      },
    },
  };
  const terminal: Terminal = {
    environment: {},
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    ask: () => Promise.resolve(null),
    stopped: () => Promise.resolve(),
  };
  return { run: (...args: string[]) => dispatch(commands, args, terminal), out, err, loaded };
}

test('a command runs with what follows its name, and gives the exit code', async () => {
  const { run, out } = rehearse();
  expect(await run('greet', 'you')).toBe(7);
  expect(out).toEqual(['Hello you']);
});

test.each([
  [[], 2],
  [['help'], 0],
  [['--help'], 0],
])('%j shows what there is, and loads nothing', async (args, code) => {
  const { run, out, loaded } = rehearse();
  expect(await run(...args)).toBe(code);
  expect(out.join('\n')).toContain('greet  say hello');
  expect(loaded).toEqual([]);
});

test.each(['nope', 'constructor', '__proto__'])('%s is no command', async (name) => {
  const { run, err, out } = rehearse();
  expect(await run(name)).toBe(2);
  expect(err[0]).toBe(`There is no command ${name}.`);
  expect(out).toEqual([]);
});

test('a command prints its own usage', async () => {
  const { run, out } = rehearse();
  expect(await run('greet', '--help')).toBe(0);
  expect(out).toEqual(['Usage: trading-graph greet <name>']);
});
