import { COMMANDS } from '../../src/cli/commands.ts';
import { dispatch } from '../../src/cli/dispatch.ts';

/** Runs `trading-graph` in this process, with only these variables: a new process would take a second of a core. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const written = { out: '', err: '' };
  const code = await dispatch(COMMANDS, args, {
    environment,
    out: (line) => {
      written.out += `${line}\n`;
    },
    err: (line) => {
      written.err += `${line}\n`;
    },
    stopped: () => Promise.resolve(),
  });
  return { code, ...written };
}
