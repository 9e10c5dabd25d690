import {
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  type OperationTypeNode,
  print,
  valueToLiteral,
} from 'graphql';

/** One selected field of a document that is still being changed. */
export interface Selection {
  /** The object type whose field it is: a type condition, where the place is of an abstract type. */
  readonly on: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly below: readonly Selection[];
  /** The number of repeats of the very same text at this place: validation compares such fields in pairs. */
  readonly times: number;
}

export type Draft = readonly Selection[];

/** The path of a selection: an index for each level. */
export type Path = readonly number[];

export interface HostileDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Writing {
  readonly schema: GraphQLSchema;
  readonly operation: OperationTypeNode;
  /** The operation's name: under another one the same document is new to the server. */
  readonly name: string;
}

export function pathsOf(draft: Draft, above: Path = []): Path[] {
  return draft.flatMap(({ below }, index) => {
    const path = [...above, index];
    return [path, ...pathsOf(below, path)];
  });
}

export function selectionAt(draft: Draft, [index = 0, ...rest]: Path): Selection {
  const selection = draft[index];
  if (!selection) throw new Error(`nothing stands at ${index}`);
  return rest.length === 0 ? selection : selectionAt(selection.below, rest);
}

/** The draft with others, or none, in place of one selection. */
export function replaceAt(
  draft: Draft,
  [index = 0, ...rest]: Path,
  change: (selection: Selection) => readonly Selection[],
): Draft {
  return draft.flatMap((selection, at) => {
    if (at !== index) return [selection];
    if (rest.length === 0) return change(selection);
    return [{ ...selection, below: replaceAt(selection.below, rest, change) }];
  });
}

/** The draft as text, in which a name that comes again has an alias. */
export function writeDocument(draft: Draft, { schema, operation, name }: Writing): HostileDocument {
  const root = schema.getRootType(operation);
  if (!root) throw new Error(`the schema has no ${operation}`);
  let aliases = 0;
  const setOf = (selections: readonly Selection[], parent: string): string => {
    const taken = new Set<string>();
    const texts = selections.map((selection) => {
      const alias = taken.has(selection.name) ? `a${aliases++}: ` : '';
      taken.add(selection.name);
      const field = alias + fieldText(selection);
      const text = Array.from({ length: selection.times }, () => field).join(' ');
      return selection.on === parent ? text : `... on ${selection.on} { ${text} }`;
    });
    return `{ ${texts.join(' ') || '__typename'} }`;
  };
  const fieldText = ({ on, name: field, args, below }: Selection): string => {
    const declared = schema.getField(schema.getType(on) as GraphQLObjectType, field);
    if (!declared) throw new Error(`the schema has no ${on}.${field}`);
    const given = declared.args
      .filter((argument) => argument.name in args)
      .map((argument) => `${argument.name}: ${literal(args[argument.name], argument.type)}`);
    const inner = getNamedType(declared.type);
    const text = given.length > 0 ? `${field}(${given.join(', ')})` : field;
    return isCompositeType(inner) ? `${text} ${setOf(below, inner.name)}` : text;
  };
  return { text: `${operation} ${name} ${setOf(draft, root.name)}`, variables: {} };
}

function literal(value: unknown, type: GraphQLInputType): string {
  const node = valueToLiteral(value, type);
  if (!node) throw new Error(`no literal of ${type} for ${JSON.stringify(value)}`);
  return print(node);
}
