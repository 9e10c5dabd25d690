import { introspectionFromSchema } from 'graphql';
import { buildSchema, printedSchema } from '../schema/schema.ts';
import { readArguments } from './command/arguments.ts';
import { type Command, EXIT_OK } from './command/dispatch.ts';

/** Prints the schema, even if the server does not answer introspection. */
export const schemaCommand: Command = {
  usage: [
    'Usage: trading-graph schema [--json]',
    '',
    'Prints the GraphQL schema (SDL).',
    '',
    '  --json  the result of an introspection query instead: { "__schema": … }',
  ].join('\n'),
  async run(args, terminal) {
    const given = readArguments({ args: [...args], options: { json: { type: 'boolean' } } });
    const schema = buildSchema();
    terminal.out(
      given.values.json
        ? JSON.stringify(introspectionFromSchema(schema), null, 2)
        : printedSchema(schema),
    );
    return EXIT_OK;
  },
};
