import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/**
 * `breaking`: a valid document may become invalid. `named`: so it may, and the changelog says so. `announced`: what is removed
 * was deprecated.
 */
export type ChangeKind = 'breaking' | 'named' | 'announced' | 'dangerous' | 'safe';

export interface SchemaChange {
  readonly kind: ChangeKind;
  readonly description: string;
}

/** The changes of a schema. `breakingLines` are the lines of the changelog that name breaking changes. */
export function compareSchemas(
  before: GraphQLSchema,
  now: GraphQLSchema,
  breakingLines: readonly string[],
): readonly SchemaChange[] {
  // A name ends at a space, a bracket, a backtick or a comma, but `Query.session` is not named by `Query`.
  const named = new Set(breakingLines.flatMap((line) => line.match(/@?\w+(?:\.\w+)?/g) ?? []));
  return findSchemaChanges(before, now).map(({ type, description }) => {
    if (type in DangerousChangeType) return { kind: 'dangerous', description };
    if (!(type in BreakingChangeType)) return { kind: 'safe', description };
    if (wasDeprecated(before, description)) return { kind: 'announced', description };
    return { kind: named.has(elementOf(description)) ? 'named' : 'breaking', description };
  });
}

/** The field, argument's field, enum value, directive or type of a change. graphql names it only in the description. */
function elementOf(description: string): string {
  const [member] = /@\w+|\w+\.\w+/.exec(description) ?? [];
  const [type = ''] = /(?<=^Standard scalar )\w+|^\w+/.exec(description) ?? [];
  return member ?? type;
}

/** Whether the change removes a deprecated element. */
function wasDeprecated(before: GraphQLSchema, description: string): boolean {
  const removed = /^(?:Field|Argument|Enum value) (\w+)\.(\w+)(?:\((\w+):\))? was removed\.$/;
  const [, typeName = '', name = '', argument] = removed.exec(description) ?? [];
  const type = before.getType(typeName);
  if (isEnumType(type)) return type.getValue(name)?.deprecationReason != null;
  if (isInputObjectType(type)) return type.getFields()[name]?.deprecationReason != null;
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const field = type.getFields()[name];
  const removedElement =
    argument === undefined ? field : field?.args.find((each) => each.name === argument);
  return removedElement?.deprecationReason != null;
}
