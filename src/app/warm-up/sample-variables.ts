import {
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';

const NUMBERS = new Set(['Int', 'Float']);

/** Values for the variables that an operation cannot do without; what they mean does not matter. */
export function sampleVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  id: string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { variable, type, defaultValue } of variableDefinitions) {
    const inputType = typeFromAST(schema, type) as GraphQLInputType | undefined;
    if (defaultValue || inputType === undefined || !isNonNullType(inputType)) continue;
    values[variable.name.value] = sampleOf(inputType, id);
  }
  return values;
}

function sampleOf(type: GraphQLInputType, id: string): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, id);
  if (isListType(type)) return [sampleOf(type.ofType, id)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    return Object.fromEntries(required.map((field) => [field.name, sampleOf(field.type, id)]));
  }
  if (type.name === 'Boolean') return true;
  return NUMBERS.has(type.name) ? 20 : id;
}
