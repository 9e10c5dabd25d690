import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

const LINE_WIDTH = 100;
const SCALARS: Readonly<Record<string, string>> = {
  ID: 'string',
  String: 'string',
  DateTime: 'string',
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
};

type Field = GraphQLField<unknown, unknown>;

/**
 * Writes a module with the types of the rows that the client follows and keeps, and the names of their plain fields for its
 * documents. A plain field has no selection and no arguments. Fields of an instrument that depend on the viewer are left
 * out, because they are not the catalog's.
 */
export function rowsOf(schema: GraphQLSchema): string {
  const sections = [
    enumType(schema, 'Side'),
    rowType('Position', 'An open position.', plainFields(schema, 'Position')),
    fieldText('POSITION_FIELDS', plainFields(schema, 'Position')),
    fieldText('TICK_FIELDS', plainFields(schema, 'PositionTick')),
    rowType('PendingOrder', 'A pending order.', plainFields(schema, 'Order')),
    fieldText('ORDER_FIELDS', plainFields(schema, 'Order')),
    rowType('Instrument', 'An instrument of the catalog.', plainFields(schema, 'Instrument')),
  ];
  return `${sections.join('\n\n')}\n`;
}

function plainFields(schema: GraphQLSchema, name: string): readonly Field[] {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`the schema has no type ${name}`);
  return Object.values(type.getFields()).filter(
    ({ type, args }) => isLeafType(getNamedType(type)) && args.length === 0,
  );
}

function enumType(schema: GraphQLSchema, name: string): string {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`the schema has no enum ${name}`);
  return `/** ${type.description} */\nexport type ${name} = ${wordsOf(type)};`;
}

function wordsOf(type: { getValues(): readonly { readonly name: string }[] }): string {
  return type
    .getValues()
    .map(({ name }) => `'${name}'`)
    .join(' | ');
}

function rowType(name: string, what: string, fields: readonly Field[]): string {
  const rows = fields.flatMap((field) => [
    `  /** ${field.description} */`,
    `  readonly ${field.name}: ${typeText(field.type)};`,
  ]);
  const plain = 'With every plain field of the schema; one that the gateway left out is null.';
  return [`/** ${what} ${plain} */`, `export interface ${name} {`, ...rows, '}'].join('\n');
}

function typeText(type: GraphQLOutputType): string {
  if (!isNonNullType(type)) return `${innerText(type)} | null`;
  return innerText(type.ofType);
}

function innerText(type: GraphQLOutputType): string {
  if (isListType(type)) return `readonly ${typeText(type.ofType)}[]`;
  if (isEnumType(type)) return type.name === 'Side' ? 'Side' : wordsOf(type);
  const text = SCALARS[String(type)];
  if (text === undefined) throw new Error(`a client knows no ${type}`);
  return text;
}

function fieldText(name: string, fields: readonly Field[]): string {
  const names = `'${fields.map((field) => field.name).join(' ')}'`;
  const line = `export const ${name} = ${names};`;
  return line.length <= LINE_WIDTH ? line : `export const ${name} =\n  ${names};`;
}
