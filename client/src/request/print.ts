import type { ASTNode, DirectiveNode, SelectionSetNode } from 'graphql';

/**
 * Prints a document by its definitions. Its source text cannot be used: it may be a whole file, or lack fragments that were
 * added. graphql's own `print` would add much of that package to each app.
 */
export function print(node: ASTNode): string {
  switch (node.kind) {
    case 'Document':
      return all(node.definitions, '\n');
    case 'OperationDefinition': {
      const head = `${node.operation} ${node.name?.value ?? ''}`;
      return `${head}${all(node.variableDefinitions, ' ', '()')}${tailOf(node)}`;
    }
    case 'FragmentDefinition':
      return `fragment ${node.name.value} on ${print(node.typeCondition)}${tailOf(node)}`;
    case 'VariableDefinition': {
      const value = node.defaultValue ? `=${print(node.defaultValue)}` : '';
      return `${print(node.variable)}:${print(node.type)}${value}${tailOf(node)}`;
    }
    case 'SelectionSet':
      return all(node.selections, ' ', '{}');
    case 'Field': {
      const alias = node.alias ? `${node.alias.value}:` : '';
      return `${alias}${node.name.value}${all(node.arguments, ' ', '()')}${tailOf(node)}`;
    }
    case 'FragmentSpread':
      return `...${node.name.value}${tailOf(node)}`;
    case 'InlineFragment':
      return `...${node.typeCondition ? ` on ${print(node.typeCondition)}` : ''}${tailOf(node)}`;
    case 'Directive':
      return ` @${node.name.value}${all(node.arguments, ' ', '()')}`;
    case 'Argument':
    case 'ObjectField':
      return `${node.name.value}:${print(node.value)}`;
    case 'Variable':
      return `$${node.name.value}`;
    case 'NamedType':
      return node.name.value;
    case 'ListType':
      return `[${print(node.type)}]`;
    case 'NonNullType':
      return `${print(node.type)}!`;
    case 'ListValue':
      return `[${all(node.values, ' ')}]`;
    case 'ObjectValue':
      return `{${all(node.fields, ' ')}}`;
    case 'StringValue':
      return JSON.stringify(node.value);
    case 'NullValue':
      return 'null';
    default:
      if ('value' in node) return String(node.value);
      throw new TypeError(`${node.kind} is not executable`);
  }
}

interface Tail {
  readonly directives?: readonly DirectiveNode[] | undefined;
  readonly selectionSet?: SelectionSetNode | undefined;
}

/** The directives and the selected fields after a node's own text. */
function tailOf({ directives, selectionSet }: Tail): string {
  return `${all(directives, '')}${selectionSet ? print(selectionSet) : ''}`;
}

/** The nodes between brackets; empty if there are none. */
function all(nodes: readonly ASTNode[] | undefined, between: string, brackets = ''): string {
  const [open = '', close = ''] = brackets;
  return nodes?.length ? `${open}${nodes.map(print).join(between)}${close}` : '';
}
