import { type ASTNode, BREAK, type DocumentNode, visit } from 'graphql';

const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Names the argument that an invalid variable was meant for, as `input.size.units`: a form knows its inputs, and no
 * variables. Null where the message is about something else.
 */
export function argumentInMessage(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const place = argumentOfVariable(variable, document);
  return `${place}${path}${field === undefined ? '' : `.${field}`}`;
}

/** The argument that a variable is used for, or the part of one; its own name where it is not used. */
function argumentOfVariable(variable: string, document: DocumentNode): string {
  let found = '';
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      if (name.value !== variable) return undefined;
      found = argumentAround([...ancestors, parent]);
      // Its declaration is outside of every argument.
      return found === '' ? undefined : BREAK;
    },
  });
  return found || variable;
}

type Ancestor = ASTNode | readonly ASTNode[] | undefined;

/** The argument around a node, or the part of one; empty where it is in none. */
export function argumentAround(ancestors: readonly Ancestor[]): string {
  return ancestors.flatMap(argumentName).join('.');
}

function argumentName(ancestor: Ancestor): string[] {
  if (ancestor === undefined || !('kind' in ancestor)) return [];
  const isNamed = ancestor.kind === 'Argument' || ancestor.kind === 'ObjectField';
  return isNamed ? [ancestor.name.value] : [];
}
