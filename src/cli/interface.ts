import { openApi } from '../check/open-api.ts';
import { type Command, EXIT_OK, readArguments } from './dispatch.ts';

/** Prints the answers that a gateway has to give, for mock servers, validators and generators. */
export const interfaceCommand: Command = {
  usage: [
    'Usage: trading-graph interface',
    '',
    "Prints the gateway's operations as this service calls and reads them: OpenAPI 3.1, as JSON.",
  ].join('\n'),
  async run(args, terminal) {
    readArguments({ args: [...args], options: {} });
    terminal.out(JSON.stringify(openApi(), null, 2));
    return EXIT_OK;
  },
};
