import { type GraphQLField, type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql';

/** The fields of a schema's own types. */
export function schemaFields(schema: GraphQLSchema): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__')
      ? Object.values(type.getFields())
      : [],
  );
}
