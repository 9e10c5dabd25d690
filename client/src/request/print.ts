import type {
  ArgumentNode,
  DefinitionNode,
  DirectiveNode,
  DocumentNode,
  SelectionSetNode,
  TypeNode,
  ValueNode,
} from 'graphql';

/**
 * The text of a document by its definitions, because its source may be a whole file's, or lack fragments that were added.
 * graphql's own `print` would bring much of that package into each app.
 */
export function print(document: DocumentNode): string {
  return document.definitions.map(definition).join('\n');
}

function definition(node: DefinitionNode): string {
  if (node.kind === 'FragmentDefinition') {
    const head = `fragment ${node.name.value} on ${node.typeCondition.name.value}`;
    return `${head}${directives(node.directives)}${selections(node.selectionSet)}`;
  }
  if (node.kind !== 'OperationDefinition') throw new TypeError(`${node.kind} is not executable`);
  const variables = (node.variableDefinitions ?? []).map(
    ({ variable, type, defaultValue, directives: own }) =>
      `$${variable.name.value}:${typeName(type)}${defaultValue ? `=${value(defaultValue)}` : ''}${directives(own)}`,
  );
  const inputs = variables.length > 0 ? `(${variables.join(' ')})` : '';
  const name = node.name ? ` ${node.name.value}` : '';
  return `${node.operation}${name}${inputs}${directives(node.directives)}${selections(node.selectionSet)}`;
}

function selections(set: SelectionSetNode | undefined): string {
  if (set === undefined) return '';
  const texts = set.selections.map((node) => {
    if (node.kind === 'FragmentSpread')
      return `...${node.name.value}${directives(node.directives)}`;
    if (node.kind === 'InlineFragment') {
      const on = node.typeCondition ? ` on ${node.typeCondition.name.value}` : '';
      return `...${on}${directives(node.directives)}${selections(node.selectionSet)}`;
    }
    const alias = node.alias ? `${node.alias.value}:` : '';
    const end = `${directives(node.directives)}${selections(node.selectionSet)}`;
    return `${alias}${node.name.value}${args(node.arguments)}${end}`;
  });
  return `{${texts.join(' ')}}`;
}

function directives(nodes: readonly DirectiveNode[] | undefined): string {
  return (nodes ?? []).map((node) => ` @${node.name.value}${args(node.arguments)}`).join('');
}

function args(nodes: readonly ArgumentNode[] | undefined): string {
  if (!nodes?.length) return '';
  return `(${nodes.map((node) => `${node.name.value}:${value(node.value)}`).join(' ')})`;
}

function value(node: ValueNode): string {
  switch (node.kind) {
    case 'Variable':
      return `$${node.name.value}`;
    case 'NullValue':
      return 'null';
    case 'ListValue':
      return `[${node.values.map(value).join(' ')}]`;
    case 'ObjectValue':
      return `{${node.fields.map((field) => `${field.name.value}:${value(field.value)}`).join(' ')}}`;
    case 'StringValue':
      return JSON.stringify(node.value);
    default:
      return String(node.value);
  }
}

function typeName(node: TypeNode): string {
  if (node.kind === 'ListType') return `[${typeName(node.type)}]`;
  return node.kind === 'NonNullType' ? `${typeName(node.type)}!` : node.name.value;
}
