import { type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

// A label of a metric each.
const MOST_FIELDS = 20;

/** The deprecated fields that a valid document selects, as `Type.field`. */
export function deprecatedFieldsIn(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly string[] {
  const found = new Set<string>();
  const types = new TypeInfo(schema);
  const note = () => {
    if (types.getFieldDef()?.deprecationReason != null && found.size < MOST_FIELDS) {
      found.add(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`);
    }
  };
  visit(document, visitWithTypeInfo(types, { Field: note }));
  return [...found];
}
