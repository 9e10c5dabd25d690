import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** The schema as text (SDL), in an order that does not depend on the code's. */
export function printedSchema(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}
