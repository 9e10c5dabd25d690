import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { Selections } from '../../src/engine/core/selections.ts';
import { OperationFacts } from '../../src/engine/documents/operation-facts.ts';

/** Builds a schema and gives its fields, named `Type.field`, resolvers and traits. */
export function schemaOf(text: string, fields: Readonly<Record<string, object>>): GraphQLSchema {
  const schema = buildSchema(text);
  for (const [name, given] of Object.entries(fields)) {
    const [type = '', field = ''] = name.split('.');
    const owner = schema.getType(type) as GraphQLObjectType;
    Object.assign(owner.getFields()[field] as object, given);
  }
  return schema;
}

/** Returns the facts about a text with one operation. */
export function factsIn(schema: GraphQLSchema, text: string) {
  const document = parse(text);
  const node = getOperationAST(document) as OperationDefinitionNode;
  const facts = new OperationFacts(new Selections(schema, document), node);
  return { facts, node };
}
