import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLCompositeType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The parts of the schema that a document uses, by schema coordinates such as `Query.positions`. */
export interface SchemaUse {
  readonly fields: ReadonlySet<string>;
  /** Fields, arguments, input fields and enum values that are deprecated, with the reason. */
  readonly deprecated: ReadonlyMap<string, string>;
}

/** The coordinates of all fields of object types and interfaces, in the order of the schema. */
export function fieldsOf(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .filter((type) => !isIntrospectionType(type))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
}

/** Reads a document that has passed validation. */
export function schemaUseOf(schema: GraphQLSchema, document: DocumentNode): SchemaUse {
  const types = new TypeInfo(schema);
  const fields = new Set<string>();
  const deprecated = new Map<string, string>();
  const note = (coordinate: string, reason: string | null | undefined) => {
    if (reason != null) deprecated.set(coordinate, reason);
  };
  const visitor: ASTVisitor = {
    Field() {
      const parent = types.getParentType();
      const field = types.getFieldDef();
      if (!parent || !field || field.name.startsWith('__')) return;
      for (const owner of ownersOf(schema, parent)) fields.add(`${owner}.${field.name}`);
      note(`${parent.name}.${field.name}`, field.deprecationReason);
    },
    Argument(node) {
      const argument = types.getArgument();
      const place = types.getDirective()
        ? `@${types.getDirective()?.name}`
        : `${types.getParentType()?.name}.${types.getFieldDef()?.name}`;
      note(`${place}(${node.name.value}:)`, argument?.deprecationReason);
    },
    ObjectField(node) {
      const owner = inputOwner(types);
      note(
        `${owner?.name}.${node.name.value}`,
        owner?.getFields()[node.name.value]?.deprecationReason,
      );
    },
    EnumValue(node) {
      const type = getNamedType(types.getInputType());
      note(`${type?.name}.${node.value}`, types.getEnumValue()?.deprecationReason);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return { fields, deprecated };
}

/** A field of an interface is a field of each type that implements it. */
function ownersOf(schema: GraphQLSchema, parent: GraphQLCompositeType): string[] {
  if (!isInterfaceType(parent)) return [parent.name];
  return [parent.name, ...schema.getPossibleTypes(parent).map(({ name }) => name)];
}

function inputOwner(types: TypeInfo): GraphQLInputObjectType | null {
  const owner = getNamedType(types.getParentInputType());
  return isInputObjectType(owner) ? owner : null;
}
