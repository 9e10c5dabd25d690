import { sandboxSettings } from '../app/app-options.ts';
import { ConfigError, readConfig } from '../config.ts';
import { ListenError } from '../lib/listen.ts';
import { type Command, EXIT_OK, readArguments, UsageError } from './dispatch.ts';

const DEFAULT_PORT = 4_010;

export const sandboxCommand: Command = {
  summary: 'run the sandbox gateway alone',
  usage: [
    'Usage: trading-graph sandbox [--port <number>] [--host <address>]',
    '',
    `  --port  where it listens; ${DEFAULT_PORT} when left out, 0 for any free port`,
    '  --host  127.0.0.1 when left out',
    '',
    'SANDBOX_SEED, SANDBOX_INSTRUMENTS, SANDBOX_TICK_MS, JWT_SECRET, GATEWAY_DIRECTION_FIELD,',
    'GATEWAY_MOBILE_WALLET, GATEWAY_LOGIN_CLAIM and GATEWAY_GROUP_CLAIM count here as well.',
  ].join('\n'),
  async run(args, terminal) {
    const flags = readFlags(args);
    const config = readConfig(terminal.environment);
    const { startSandbox } = await import('../sandbox/start.ts');
    const started = startSandbox({ ...sandboxSettings(config), ...flags });
    await using sandbox = await started.catch((error: unknown) => {
      if (!(error instanceof ListenError)) throw error;
      throw new ConfigError([`--${error.about}=${flags[error.about]}: ${error.message}`]);
    });
    // The signal handler is installed before the output invites a user to stop the process.
    const stopped = terminal.stopped();
    terminal.out(`The sandbox gateway listens on ${sandbox.url}`);
    terminal.out(
      'Log in as demo@example.com, pro@example.com or fresh@example.com, password demo.',
    );
    await stopped;
    return EXIT_OK;
  },
};

function readFlags(args: readonly string[]) {
  const options = { port: { type: 'string' }, host: { type: 'string' } } as const;
  const given = readArguments({ args: [...args], options });
  const { port = String(DEFAULT_PORT), host = '127.0.0.1' } = given.values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port=${port}: must be a whole number from 0 to 65535`);
  }
  return { port: Number(port), host };
}
