import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isScalarType,
  isUnionType,
  specifiedScalarTypes,
} from 'graphql';

const BUILT_IN = new Set<string>(specifiedScalarTypes.map(({ name }) => name));

interface PageOptions {
  /** Whether a service answers beside the page, with GraphiQL and the whole text. */
  readonly hasService: boolean;
}

/** The reference of a schema as Markdown: the fields of its roots with an example of each, then its types. */
export function schemaPage(schema: GraphQLSchema, { hasService }: PageOptions): string {
  const roots = [
    ['Queries', schema.getQueryType()],
    ['Mutations', schema.getMutationType()],
    ['Subscriptions', schema.getSubscriptionType()],
  ] as const;
  const rootTypes = new Set<GraphQLNamedType>(roots.flatMap(([, type]) => type ?? []));
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !BUILT_IN.has(type.name))
    .filter((type) => !rootTypes.has(type))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return [
    '# The schema',
    `Each field, type and value of this service, with the fields of its extensions.${hasService ? ' The whole text is at [/schema.graphql](/schema.graphql).' : ''}`,
    ...roots.flatMap(([title, root]) =>
      root
        ? [
            `## ${title}`,
            ...fieldsOf(root).map((field) => rootField(schema, root, field, hasService)),
          ]
        : [],
    ),
    '## Types',
    ...types.map((type) => typeEntry(schema, type)),
  ].join('\n\n');
}

function rootField(
  schema: GraphQLSchema,
  root: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  hasService: boolean,
): string {
  const kind = {
    [schema.getMutationType()?.name ?? '']: 'mutation',
    [schema.getSubscriptionType()?.name ?? '']: 'subscription',
  }[root.name];
  const example = exampleOf(schema, kind ?? 'query', field);
  return [
    `### ${root.name}.${field.name}`,
    '',
    `${described(field)} Returns ${linked(String(field.type))}.`,
    '',
    ...field.args.map((arg) => `- ${argument(arg)}`),
    '',
    `\`\`\`graphql\n${example}\n\`\`\``,
    '',
    hasService
      ? `[Open in GraphiQL](/graphql?query=${encodeURIComponent(example).replace(/[()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)})`
      : '',
  ].join('\n');
}

function typeEntry(schema: GraphQLSchema, type: GraphQLNamedType): string {
  const lines = [`### ${type.name}`, '', type.description ?? '', ''];
  if (isEnumType(type)) {
    for (const value of type.getValues()) lines.push(`- \`${value.name}\`: ${described(value)}`);
  } else if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) lines.push(`- ${argument(field)}`);
  } else if (isUnionType(type)) {
    lines.push(
      `One of ${type
        .getTypes()
        .map(({ name }) => linked(name))
        .join(', ')}.`,
    );
  } else if (isObjectType(type) || isInterfaceType(type)) {
    if (isInterfaceType(type)) {
      const possible = schema.getPossibleTypes(type).map(({ name }) => linked(name));
      lines.push(`An interface of ${possible.join(', ')}.`, '');
    }
    for (const field of fieldsOf(type)) {
      const args = field.args.map(({ name, type: of }) => `${name}: ${of}`).join(', ');
      const shown = `\`${field.name}${args && `(${args})`}\``;
      lines.push(`- ${shown}, ${linked(String(field.type))}: ${described(field)}`);
    }
  } else if (isScalarType(type) && type.specifiedByURL) {
    lines.push('', `Specified by ${type.specifiedByURL}.`);
  }
  return lines.join('\n');
}

function argument({
  name,
  type,
  description,
  defaultValue,
  deprecationReason,
}: GraphQLArgument | GraphQLInputField): string {
  const fallback =
    defaultValue === undefined ? '' : `, by default \`${JSON.stringify(defaultValue)}\``;
  return `\`${name}\`, ${linked(String(type))}${fallback}: ${described({ description, deprecationReason })}`;
}

interface Described {
  readonly description?: string | null | undefined;
  readonly deprecationReason?: string | null | undefined;
}

function described({ description, deprecationReason }: Described): string {
  const text = (description ?? '').replace(/\s+/g, ' ').trim();
  return deprecationReason ? `**Deprecated**: ${deprecationReason} ${text}` : text;
}

/** A type as it is written, which leads to its entry. */
function linked(written: string): string {
  const name = written.replace(/[[\]!]/g, '');
  return BUILT_IN.has(name) ? `\`${written}\`` : `[\`${written}\`](#${name.toLowerCase()})`;
}

function fieldsOf(type: { getFields(): Readonly<Record<string, GraphQLField<unknown, unknown>>> }) {
  return Object.values(type.getFields());
}

/** The shortest operation that shows the field: values of what is required, and the leaves of what it returns. */
function exampleOf(
  schema: GraphQLSchema,
  kind: string,
  field: GraphQLField<unknown, unknown>,
): string {
  const args = field.args.filter(isRequiredArgument);
  const given = args.map(({ name, type }) => `${name}: ${sampleOf(type)}`).join(', ');
  const named = getNamedType(field.type);
  const selection = isLeafType(named) ? '' : ` {\n${selected(schema, named, '    ', 1)}\n  }`;
  return `${kind} {\n  ${field.name}${given && `(${given})`}${selection}\n}`;
}

function selected(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  indent: string,
  depth: number,
): string {
  if (isUnionType(type) || isInterfaceType(type)) {
    const own = schema
      .getPossibleTypes(type)
      .map(
        (each) =>
          `${indent}... on ${each.name} {\n${selected(schema, each, `${indent}  `, 0)}\n${indent}}`,
      );
    return [`${indent}__typename`, ...own].join('\n');
  }
  if (!isObjectType(type)) return `${indent}__typename`;
  const lines = fieldsOf(type).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return [];
    const inner = getNamedType(field.type);
    if (isLeafType(inner)) return [`${indent}${field.name}`];
    return depth > 0
      ? [`${indent}${field.name} {\n${selected(schema, inner, `${indent}  `, 0)}\n${indent}}`]
      : [];
  });
  const few = depth > 0 ? lines : lines.slice(0, 4);
  return few.length > 0 ? few.join('\n') : `${indent}__typename`;
}

function sampleOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return `[${sampleOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const needed = type.isOneOf ? fields.slice(0, 1) : fields.filter(isRequiredInputField);
    return `{ ${needed.map(({ name, type: of }) => `${name}: ${sampleOf(of)}`).join(', ')} }`;
  }
  const samples: Readonly<Record<string, string>> = {
    Int: '1',
    Float: '1',
    Boolean: 'true',
    DateTime: '"2026-11-20T09:30:00Z"',
    JSON: '{}',
  };
  return samples[type.name] ?? '"AAPL"';
}
