import {
  GraphQLDeferDirective,
  type GraphQLSchema,
  lexicographicSortSchema,
  printSchema,
  specifiedDirectives,
} from 'graphql';
import './live.ts';
import './user-writes.ts';
import './instrument-list.ts';
import './holding.ts';
import './instrument.ts';
import './session.ts';
import './sign-in.ts';
import './trading.ts';
import { builder } from './builder.ts';

/** The whole schema. The imports above are its table of contents. */
export function buildSchema(): GraphQLSchema {
  const directives = [...specifiedDirectives, GraphQLDeferDirective];
  return builder.toSchema({ directives });
}

/** The schema as SDL, sorted so that its order does not depend on the code. */
export function printedSchema(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}
