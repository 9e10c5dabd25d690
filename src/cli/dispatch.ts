import { type Command, EXIT_OK, EXIT_USAGE, type Terminal } from './command.ts';

/** The commands by name; each is loaded only when it runs. */
export type Commands = Readonly<
  Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>
>;

/** Runs the command that the arguments name and resolves with its exit code. */
export async function dispatch(
  commands: Commands,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    for (const line of usage(commands)) terminal.out(line);
    return name === undefined ? EXIT_USAGE : EXIT_OK;
  }
  // `in` would accept inherited names such as "constructor".
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) {
    terminal.err(`There is no command ${name}.`);
    for (const line of usage(commands)) terminal.err(line);
    return EXIT_USAGE;
  }
  const command = await entry.load();
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(command.usage);
    return EXIT_OK;
  }
  return command.run(rest, terminal);
}

function usage(commands: Commands): string[] {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: trading-graph <command> [options]',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'trading-graph <command> --help tells more.',
  ];
}
