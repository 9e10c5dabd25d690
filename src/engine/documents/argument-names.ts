import { type ASTNode, BREAK, type DocumentNode, visit } from 'graphql';

/** A message of graphql-js about a variable. The groups: the variable, the path in its value, a missing or unknown field. */
const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Returns the argument that an invalid variable is used for, such as `input.size.units`, because a form knows its inputs
 * but not the variables. Null if the message is not about a variable.
 */
export function argumentInMessage(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const argument = argumentOfVariable(variable, document);
  return `${argument}${path}${field === undefined ? '' : `.${field}`}`;
}

/** The argument that a variable is used for, or a part of it; the variable's own name if it is unused. */
function argumentOfVariable(variable: string, document: DocumentNode): string {
  let found = '';
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      if (name.value !== variable) return undefined;
      found = argumentAround([...ancestors, parent]);
      // The declaration of the variable is visited too, and is outside every argument.
      return found === '' ? undefined : BREAK;
    },
  });
  return found || variable;
}

type Ancestor = ASTNode | readonly ASTNode[] | undefined;

/** The argument that contains a node, or a part of it; '' if there is none. */
export function argumentAround(ancestors: readonly Ancestor[]): string {
  return ancestors.flatMap(argumentName).join('.');
}

function argumentName(ancestor: Ancestor): string[] {
  if (ancestor === undefined || !('kind' in ancestor)) return [];
  const isNamed = ancestor.kind === 'Argument' || ancestor.kind === 'ObjectField';
  return isNamed ? [ancestor.name.value] : [];
}
