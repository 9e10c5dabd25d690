import { buildSchema, printedSchema } from '../schema/schema.ts';
import { type Command, EXIT_OK, readArguments } from './dispatch.ts';

/** Prints the schema, even if the server does not answer introspection. */
export const schemaCommand: Command = {
  usage: ['Usage: trading-graph schema', '', 'Prints the GraphQL schema (SDL).'].join('\n'),
  async run(args, terminal) {
    readArguments({ args: [...args], options: {} });
    terminal.out(printedSchema(buildSchema()));
    return EXIT_OK;
  },
};
